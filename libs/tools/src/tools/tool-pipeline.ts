import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { ToolOutputDeltaSchema, ToolStartedSchema } from "@forge/protocol/event";
import { ToolResultSchema } from "@forge/protocol/worker";
import { failure, interrupted, type Outcome, readArguments, type TaskContext } from "@forge/worker";
import { argumentValidator } from "./argument-validator.ts";
import { isStopUnconfirmed } from "./stop-unconfirmed.ts";
import type { ToolDefinition } from "./tool-definition.ts";

/** One call on its way through the layers. */
export interface Invocation {
  readonly context: TaskContext;
  /** The task's signal, narrowed by the layers. */
  readonly signal: AbortSignal;
  /** Empty until they were read. */
  readonly args: Record<string, unknown>;
  readonly startedAt: number;
}

/** What a call does from some layer inwards. */
export type Step = (invocation: Invocation) => Promise<Outcome>;

/** Wraps a step: may end the call before it, change what it is given, or what it answers. */
export type Layer = (next: Step) => Step;

/** The layers around a tool, the outermost first. */
export function toolPipeline<Arguments>(definition: ToolDefinition<Arguments>): Step {
  const layers = [settleFailures, validateArguments(definition.inputSchema), recordStart, limitTime(definition.name, definition.timeoutMs)];
  return layers.reduceRight<Step>((next, layer) => layer(next), execute(definition));
}

/** Every throw becomes the one end of the call. */
const settleFailures: Layer = (next) => async (invocation) => {
  try {
    return await next(invocation);
  } catch (error) {
    const durationMs = performance.now() - invocation.startedAt;
    if (isStopUnconfirmed(error)) return failure(error, durationMs, { unknown: true });
    return interrupted(invocation.context.signal) ?? failure(error, durationMs);
  }
};

/** Arguments that don't match are never executed. */
function validateArguments(schema: ToolDefinition<unknown>["inputSchema"]): Layer {
  const validate = argumentValidator(schema);
  return (next) => async (invocation) => {
    const args = await readArguments(invocation.context.task, invocation.context);
    validate(args);
    return next({ ...invocation, args });
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

/** The innermost step: the tool itself, its output as a value of the event, or in the artifact store where it is large. */
function execute<Arguments>(definition: ToolDefinition<Arguments>): Step {
  return async ({ context, signal, args, startedAt }) => {
    // Characters, as the event counts them.
    let offset = 0n;
    const report = (text: string): void => {
      context.report({ case: "tool", value: create(ToolOutputDeltaSchema, { offset, text, epoch: context.lease.epoch }) });
      offset += BigInt(text.length);
    };
    // The schema was checked against these arguments, and the definition's type is what its schema says.
    const output = await definition.execute(args as Arguments, { signal, report });
    const value = await context.toValue(JSON.stringify(output));
    return { case: "tool", value: create(ToolResultSchema, { output: value, durationMs: BigInt(Math.round(performance.now() - startedAt)) }) };
  };
}
