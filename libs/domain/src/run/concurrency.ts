import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ErrorCode, StreamKind, StreamRefSchema } from "@forge/protocol/common";
import { AcquireConcurrencySchema, type GrantConcurrency, type OutgoingCommand, OutgoingCommandSchema, ReleaseConcurrencySchema } from "@forge/protocol/engine";
import { RunQueuedSchema, RunStartedSchema } from "@forge/protocol/event";
import type { StartRunRequest, WorkflowDefinition } from "@forge/protocol/workflow";
import { concurrencyStreamId } from "../concurrency/key.ts";
import type { Rejected } from "../decider.ts";
import { renderTemplate } from "../template/render-template.ts";
import { isStorable } from "../text.ts";
import { refusal } from "./errors.ts";
import { InvalidField } from "./invalid-field.ts";
import { CONCURRENCY_KEY_LENGTH_MAX } from "./limits.ts";
import { type RunRecorder, record } from "./recorder.ts";
import { isActive, type RunState } from "./state.ts";

/** The key that a run must hold, and how many runs may; undefined: none, or one that a run above it holds for it. Throws InvalidField. */
export function concurrencyOf(
  request: StartRunRequest,
  definition: WorkflowDefinition,
  inputs: JsonObject,
  held: readonly string[],
): { readonly key: string; readonly limit: number } | undefined {
  const wanted =
    request.concurrencyKey === ""
      ? definition.concurrency && { key: render(definition.concurrency.key, inputs), limit: definition.concurrency.limit }
      : { key: request.concurrencyKey, limit: request.concurrencyLimit };
  if (wanted === undefined || held.includes(wanted.key)) return undefined;
  return { key: wanted.key, limit: wanted.limit || 1 };
}

function render(template: string, inputs: JsonObject): string {
  const rendered = renderTemplate(template, { inputs });
  if (!rendered.ok) throw new InvalidField("definition.concurrency.key", `the concurrency key can't be rendered: ${rendered.error.message}`);
  if (rendered.value.trim() === "" || rendered.value.length > CONCURRENCY_KEY_LENGTH_MAX || !isStorable(rendered.value)) {
    throw new InvalidField("definition.concurrency.key", `a concurrency key has 1 to ${CONCURRENCY_KEY_LENGTH_MAX} characters without NUL`);
  }
  return rendered.value;
}

/** The first step begins now, or once the run has its key. */
export function beginOrQueue(run: RunRecorder): void {
  if (run.state.concurrency === undefined) record(run, { case: "runStarted", value: create(RunStartedSchema) });
  else queue(run);
}

/** What begins anew must get its key anew. */
export function queueAgain(run: RunRecorder): void {
  if (run.state.concurrency !== undefined) queue(run);
}

function queue(run: RunRecorder): void {
  const key = run.state.concurrency?.key ?? "";
  record(run, { case: "runQueued", value: create(RunQueuedSchema, { concurrencyStreamId: concurrencyStreamId(run.context, key) }) });
}

/** The key is the run's. A run that has no use for it any more refuses it, so that the next one gets it. */
export function keyGranted(run: RunRecorder, { key }: GrantConcurrency): Rejected | undefined {
  const { state, context } = run;
  if (!isActive(state) || !state.queued) {
    return refusal(
      ErrorCode.CONFLICT,
      "RUN_NOT_QUEUED",
      `run ${context.streamId} does not wait for the concurrency key ${JSON.stringify(key)}`,
      context.streamId,
    );
  }
  record(run, { case: "runStarted", value: create(RunStartedSchema) });
  return undefined;
}

/** The id of the command that asks for the key; the event's seq tells a resumed run's from the first. */
function acquireId(runId: string, seq: bigint): string {
  return `concurrency:${runId}:${seq}`;
}

/** Whether a command that came back was the one that asked for the key. */
export function asksForKey({ runId, queued }: RunState, commandId: string): boolean {
  return queued && commandId.startsWith(`concurrency:${runId}:`) && !commandId.endsWith(":release");
}

export function acquireKey(state: RunState, seq: bigint): OutgoingCommand {
  const { runId, priority, concurrency } = state;
  const value = create(AcquireConcurrencySchema, { key: concurrency?.key ?? "", limit: concurrency?.limit ?? 1, runId, priority });
  return toKey(state, acquireId(runId, seq), { case: "acquireConcurrency", value });
}

export function releaseKey(state: RunState, seq: bigint): OutgoingCommand {
  const value = create(ReleaseConcurrencySchema, { runId: state.runId });
  return toKey(state, `${acquireId(state.runId, seq)}:release`, { case: "releaseConcurrency", value });
}

function toKey(state: RunState, commandId: string, command: OutgoingCommand["command"]): OutgoingCommand {
  return create(OutgoingCommandSchema, {
    source: create(StreamRefSchema, { kind: StreamKind.RUN, id: state.runId }),
    target: create(StreamRefSchema, { kind: StreamKind.CONCURRENCY, id: state.concurrencyStreamId }),
    commandId,
    command,
  });
}
