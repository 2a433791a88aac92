import { create } from "@bufbuild/protobuf";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import type { AcquireConcurrency, RejectCommand, ReleaseConcurrency } from "@forge/protocol/engine";
import { ConcurrencyGrantedSchema, ConcurrencyReleasedSchema, ConcurrencyRequestedSchema } from "@forge/protocol/event";
import type { Context, Decision, Rejected } from "../decider.ts";
import { Recorder } from "../recorder.ts";
import { grantedRun } from "./commands.ts";
import { evolveConcurrency } from "./evolve.ts";
import { type ConcurrencyState, WAITING_MAX } from "./state.ts";

/** Everything that the stream of a concurrency key may be told. */
export type ConcurrencyCommand = AcquireConcurrency | ReleaseConcurrency | RejectCommand;

type ConcurrencyRecorder = Recorder<ConcurrencyState>;

/** Puts a run in the queue or takes it out, and gives the key to as many as may have it. */
export function decideConcurrency(state: ConcurrencyState, command: ConcurrencyCommand, context: Context): Decision<undefined> {
  const recorder: ConcurrencyRecorder = new Recorder("concurrency", state, evolveConcurrency, context);
  const refused = apply(recorder, command);
  if (refused !== undefined) return refused;
  grant(recorder);
  return { events: recorder.events, result: undefined };
}

function apply(recorder: ConcurrencyRecorder, command: ConcurrencyCommand): Rejected | undefined {
  switch (command.$typeName) {
    case "forge.engine.v1.AcquireConcurrency":
      return acquire(recorder, command);
    case "forge.engine.v1.ReleaseConcurrency":
      return release(recorder, command.runId);
    case "forge.engine.v1.RejectCommand":
      // The run that was granted the key has ended meanwhile, or waits no longer: its release is on its way, and may be here before or after.
      return release(recorder, grantedRun(command.commandId));
    default:
      return command satisfies never;
  }
}

function acquire(recorder: ConcurrencyRecorder, { key, runId, priority, limit }: AcquireConcurrency): Rejected | undefined {
  const { state } = recorder;
  if (state.waiting.length >= WAITING_MAX) {
    return refused(
      ErrorCode.RESOURCE_EXHAUSTED,
      "CONCURRENCY_QUEUE_FULL",
      `${WAITING_MAX} runs wait for the concurrency key ${JSON.stringify(key)} already`,
      runId,
    );
  }
  recorder.record({ payload: { case: "concurrencyRequested", value: create(ConcurrencyRequestedSchema, { key, runId, priority, limit }) } });
  return undefined;
}

function release(recorder: ConcurrencyRecorder, runId: string): Rejected | undefined {
  const { holders, waiting } = recorder.state;
  if (!holders.includes(runId) && !waiting.some((entry) => entry.runId === runId)) {
    return refused(ErrorCode.CONFLICT, "CONCURRENCY_NOT_HELD", `run ${runId} neither holds the key nor waits for it`, runId);
  }
  recorder.record({ payload: { case: "concurrencyReleased", value: create(ConcurrencyReleasedSchema, { runId }) } });
  return undefined;
}

function grant(recorder: ConcurrencyRecorder): void {
  for (;;) {
    const { holders, waiting, limit } = recorder.state;
    const next = waiting[0];
    if (next === undefined || holders.length >= limit) return;
    recorder.record({ payload: { case: "concurrencyGranted", value: create(ConcurrencyGrantedSchema, { runId: next.runId }) } });
  }
}

function refused(code: ErrorCode, reason: string, message: string, runId: string): Rejected {
  return { rejection: create(ForgeErrorSchema, { code, reason, message, origin: "control-plane", relatedIds: [runId] }) };
}
