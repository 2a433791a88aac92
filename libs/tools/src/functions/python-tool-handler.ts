import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { ToolOutputDeltaSchema, ToolStartedSchema } from "@forge/protocol/event";
import { RiskLevel, ToolSpecSchema } from "@forge/protocol/tool";
import { CapabilityKind, CapabilitySchema, ToolResultSchema } from "@forge/protocol/worker";
import { failure, interrupted, type Outcome, readArguments, type TaskContext, type TaskHandler } from "@forge/worker";
import { stopUnconfirmed } from "../tools/stop-unconfirmed.ts";
import { answerError } from "./answer-error.ts";
import type { DiscoveredTool } from "./discover-tools.ts";
import type { ServingOptions } from "./function-handler.ts";
import type { CallListener, FunctionAnswer } from "./function-process.ts";
import { runState } from "./run-state.ts";

const TIMER_MS_MAX = 2 ** 31 - 1;

const RISKS = { read: RiskLevel.READ, change: RiskLevel.CHANGE, execute: RiskLevel.EXECUTE } as const;
/** Of a tool that says nothing: as long as an agent may take; the step's own timeout is the one to set. */
const TIMEOUT_MS = 3_600_000;
/** The child ends a tool's attempts itself, and says so; what does not end by that is ended with its process. */
const TIMEOUT_MARGIN_MS = 1_000;

/** Serves a tool of Python as a worker's capability. */
export function pythonToolHandler(served: DiscoveredTool, serving: ServingOptions): TaskHandler {
  const { name, description, schema, idempotent, risk, timeout } = served;
  const timeoutMs = timeout === null ? TIMEOUT_MS : Math.ceil(timeout * 1_000) + TIMEOUT_MARGIN_MS;
  return {
    capability: create(CapabilitySchema, {
      kind: CapabilityKind.TOOL,
      name,
      tool: create(ToolSpecSchema, {
        name,
        description,
        inputSchemaJson: JSON.stringify(schema),
        idempotent,
        risk: RISKS[risk],
        timeout: durationFromMs(timeoutMs),
      }),
    }),
    async run(context) {
      const startedAt = performance.now();
      try {
        const args = JSON.stringify(await readArguments(context.task, context));
        const answer = await call(served, args, context, timeoutMs, serving);
        return await outcomeOf(name, answer, context, performance.now() - startedAt);
      } catch (error) {
        return interrupted(context.signal) ?? failure(error, performance.now() - startedAt);
      }
    },
  };
}

function call({ file, name }: DiscoveredTool, args: string, context: TaskContext, timeoutMs: number, serving: ServingOptions): Promise<FunctionAnswer> {
  if (context.task.kind.case !== "tool") throw ForgeError.validation("task", "a tool was given another task", { origin: "tool" });
  const { runId, stepId } = context.task.kind.value;
  const { pool, log, readRun } = serving;
  let offset = 0n;
  const listener: CallListener = {
    alive: () => context.heartbeat(),
    line: (stream, line) => {
      log({ function: name, runId, stepId, stream, text: line });
      if (stream === "stderr") return;
      const text = `${line}\n`;
      context.report({ case: "tool", value: create(ToolOutputDeltaSchema, { offset, text, epoch: context.lease.epoch }) });
      offset += BigInt(text.length);
    },
    state: readRun === undefined || runId === "" ? undefined : () => runState(runId, readRun, context),
  };
  // There may be more tasks than processes.
  context.queued();
  return pool.use(context.signal, async (process) => {
    context.begun();
    // Only once a process is there: what has not started is simply dispatched again.
    if (context.task.needsStart) await context.start({ case: "tool", value: create(ToolStartedSchema) });
    context.signal.throwIfAborted();
    const ids = { runId, stepId, attempt: 1, idempotencyKey: context.task.idempotencyKey };
    const bound = AbortSignal.any([context.signal, AbortSignal.timeout(Math.min(timeoutMs, TIMER_MS_MAX))]);
    return process.call({ file, name, tool: name, context: ids }, args, bound, listener);
  });
}

async function outcomeOf(name: string, answer: FunctionAnswer, context: TaskContext, durationMs: number): Promise<Outcome> {
  switch (answer.kind) {
    case "result":
      return {
        case: "tool",
        value: create(ToolResultSchema, { output: await context.toValue(answer.json), durationMs: BigInt(Math.round(durationMs)) }),
      };
    case "interrupted":
      if (!answer.stopped) return failure(stopUnconfirmed(name), durationMs, { unknown: true });
      return interrupted(context.signal) ?? failure(context.signal.aborted ? context.signal.reason : tooLong(name), durationMs);
    case "exited":
      // What it did before its process ended nobody can say, unless calling it again is no harm.
      return failure(answer.stopped ? answerError(name, answer, "tool") : stopUnconfirmed(name), durationMs, { unknown: context.task.needsStart });
    case "error":
      return failure(answerError(name, answer, "tool"), durationMs);
  }
}

function tooLong(name: string): ForgeError {
  return new ForgeError(ErrorCode.DEADLINE_EXCEEDED, `${name} did not end in time and was stopped`, { origin: "tool" });
}
