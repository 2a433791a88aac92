import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ValueSchema } from "@forge/protocol/common";
import { ToolOutputDeltaSchema, ToolStartedSchema, type WorkspaceChangeRecorded } from "@forge/protocol/event";
import { ToolMode } from "@forge/protocol/tool";
import { InputRequiredSchema, ToolResultSchema } from "@forge/protocol/worker";
import { failure, interrupted, readArguments } from "@forge/worker";
import { argumentValidator } from "./argument-validator.ts";
import { boundOutput } from "./bound-output.ts";
import { InputRequired } from "./input-required.ts";
import { isStopUnconfirmed } from "./stop-unconfirmed.ts";
import type { ToolCall, ToolDefinition, ToolRequest } from "./tool-definition.ts";
import type { Invocation, Layer, Step } from "./tool-layer.ts";
import { toolTask } from "./tool-task.ts";
import { UserNotes } from "./user-notes.ts";

/** What a host adds to the layers around a tool. */
export interface PipelineOptions {
  /** Around calls whose arguments match, before they start; the outermost first. What is only told beforehand does not pass them. */
  readonly layers?: readonly Layer[];
  /** Around the execution of a tool that `observes`; its time does not count as the tool's. */
  readonly observe?: Layer;
}

/** The layers around a tool, the outermost first. */
export function toolPipeline<Arguments>(definition: ToolDefinition<Arguments>, { layers: added = [], observe }: PipelineOptions = {}): Step {
  const layers = [
    settleFailures,
    validateArguments(definition),
    tellBeforehand(definition),
    ...added,
    recordStart,
    ...(definition.observes === true && observe !== undefined ? [observe] : []),
    boundOutput,
    limitTime(definition.name, definition.timeoutMs),
  ];
  return layers.reduceRight<Step>((next, layer) => layer(next), execute(definition));
}

/** Every throw becomes the one end of the call. */
const settleFailures: Layer = (next) => async (invocation) => {
  try {
    const outcome = await next(invocation);
    if (outcome.case === "tool") outcome.value.changes = invocation.changes;
    return outcome;
  } catch (error) {
    const durationMs = performance.now() - invocation.startedAt;
    if (error instanceof InputRequired) {
      return { case: "inputRequired", value: create(InputRequiredSchema, { question: error.message, resumeJson: error.resumeJson }) };
    }
    const outcome = isStopUnconfirmed(error)
      ? failure(error, durationMs, { unknown: true })
      : (interrupted(invocation.context.signal) ?? failure(error, durationMs));
    if (outcome.case === "failure" || outcome.case === "cancelled") outcome.value.changes = invocation.changes;
    return outcome;
  }
};

/** Arguments that don't match are never executed. */
function validateArguments({ inputSchema, foreignSchema }: Pick<ToolDefinition<unknown>, "inputSchema" | "foreignSchema">): Layer {
  const validate = argumentValidator(inputSchema, { foreign: foreignSchema });
  return (next) => async (invocation) => {
    const args = await readArguments(invocation.context.task, invocation.context);
    validate(args);
    return next({ ...invocation, args });
  };
}

/** A call that is only to be told goes no further than here. */
function tellBeforehand<Arguments>(definition: ToolDefinition<Arguments>): Layer {
  return (next) => async (invocation) => {
    if (!toolTask(invocation.context).preview) return next(invocation);
    if (definition.preview === undefined) {
      throw new ForgeError(ErrorCode.UNSUPPORTED, `${definition.name} can't tell beforehand what a call does`, { reason: "NO_PREVIEW", origin: "tool" });
    }
    return { case: "preview", value: await definition.preview(invocation.args as Arguments, requestOf(invocation)) };
  };
}

/** A non-idempotent effect never precedes the go-ahead. */
const recordStart: Layer = (next) => async (invocation) => {
  if (invocation.context.task.needsStart) await invocation.context.start({ case: "tool", value: create(ToolStartedSchema) });
  invocation.signal.throwIfAborted();
  return next(invocation);
};

/** The tool's own bound, which holds also where the task has no deadline. */
function limitTime(name: string, timeoutMs: number): Layer {
  return (next) => async (invocation) => {
    const limit = new AbortController();
    const timer = setTimeout(
      () => limit.abort(new ForgeError(ErrorCode.DEADLINE_EXCEEDED, `${name} did not end within ${timeoutMs / 1000} s and was stopped`, { origin: "tool" })),
      timeoutMs,
    );
    try {
      return await next({ ...invocation, signal: AbortSignal.any([invocation.signal, limit.signal]) });
    } finally {
      clearTimeout(timer);
    }
  };
}

/** The innermost step: the tool itself, its output as it is, however large. */
function execute<Arguments>(definition: ToolDefinition<Arguments>): Step {
  return async (invocation) => {
    const { context, args, startedAt, changes } = invocation;
    const notes = new UserNotes(context);
    const { previewed, providedInputs, resumeJson } = toolTask(context);
    // Characters, as the event counts them.
    let offset = 0n;
    const report = (text: string): void => {
      context.report({ case: "tool", value: create(ToolOutputDeltaSchema, { offset, text, epoch: context.lease.epoch }) });
      offset += BigInt(text.length);
    };
    const changed = (change: WorkspaceChangeRecorded): void => {
      changes.push(change);
    };
    const call: ToolCall = {
      ...requestOf(invocation),
      previewed,
      inputs: providedInputs,
      resumeJson,
      report,
      progress: (message, fraction) => notes.progress(message, fraction),
      structured: (type, value) => notes.structured(type, value),
      changed,
      readsOnly: () => invocation.readsOnly?.(),
    };
    // The schema was checked against these arguments, and the definition's type is what its schema says.
    const output = await definition.execute(args as Arguments, call);
    const value = create(ValueSchema, { kind: { case: "json", value: JSON.stringify(output) } });
    return { case: "tool", value: create(ToolResultSchema, { output: value, durationMs: BigInt(Math.round(performance.now() - startedAt)) }) };
  };
}

function requestOf({ context, signal }: Invocation): ToolRequest {
  const { mode, sessionId, turnId, runId, stepId } = toolTask(context);
  return {
    signal,
    mode: mode === ToolMode.UNSPECIFIED ? ToolMode.ACT : mode,
    idempotencyKey: context.task.idempotencyKey,
    owner: { sessionId, turnId, runId, stepId },
    putArtifact: (content, mediaType) => context.putArtifact(content, mediaType),
    getArtifact: (sha256) => context.getArtifact(sha256),
  };
}
