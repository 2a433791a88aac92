import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ToolStartedSchema } from "@forge/protocol/event";
import { CapabilityKind, CapabilitySchema, FunctionResultSchema, type FunctionTask } from "@forge/protocol/worker";
import { failure, interrupted, type Outcome, type TaskContext, type TaskHandler } from "@forge/worker";
import { isStopUnconfirmed, stopUnconfirmed } from "../tools/stop-unconfirmed.ts";
import { answerError } from "./answer-error.ts";
import type { DiscoveredFunction } from "./discover-functions.ts";
import type { FunctionPool } from "./function-pool.ts";
import type { FunctionAnswer } from "./function-process.ts";
import { type ReadRun, runState } from "./run-state.ts";

/** A line that a function printed. */
export interface FunctionLogLine {
  readonly function: string;
  readonly runId: string;
  readonly stepId: string;
  readonly stream: "stdout" | "stderr";
  /** At most 4,096 characters. */
  readonly text: string;
}

/** What every function and tool of a project is served with. */
export interface ServingOptions {
  readonly pool: FunctionPool;
  readonly log: (line: FunctionLogLine) => void;
  readonly readRun?: ReadRun;
}

/** Serves a function as a worker's capability. */
export function functionHandler(served: DiscoveredFunction, { pool, log, readRun }: ServingOptions): TaskHandler {
  return {
    capability: create(CapabilitySchema, { kind: CapabilityKind.FUNCTION, name: served.name }),
    async run(context) {
      const startedAt = performance.now();
      try {
        const task = functionTask(context);
        const inputs = await inputsJson(task, context);
        // There may be more tasks than processes.
        context.queued();
        const answer = await pool.use(context.signal, async (process) => {
          context.begun();
          // Only once a process is there: what has not started is simply dispatched again.
          if (context.task.needsStart) await context.start({ case: "tool", value: create(ToolStartedSchema) });
          context.signal.throwIfAborted();
          const { runId, stepId, attempt } = task;
          const request = { file: served.file, name: served.exportName, context: { runId, stepId, attempt, idempotencyKey: context.task.idempotencyKey } };
          return process.call(request, inputs, context.signal, {
            alive: () => context.heartbeat(),
            line: (stream, text) => log({ function: served.name, runId, stepId, stream, text }),
            state: readRun === undefined ? undefined : () => runState(runId, readRun, context),
          });
        });
        const output = await context.toValue(resultOf(served.name, answer, context.signal));
        return { case: "function", value: create(FunctionResultSchema, { output, durationMs: BigInt(Math.round(performance.now() - startedAt)) }) };
      } catch (error) {
        return settled(error, context.signal, performance.now() - startedAt);
      }
    },
  };
}

function functionTask({ task }: TaskContext): FunctionTask {
  if (task.kind.case !== "function")
    throw ForgeError.validation("task", `a function was given a task of kind ${task.kind.case ?? "unknown"}`, { origin: "worker" });
  return task.kind.value;
}

/** The inputs as one JSON object; their texts are joined as they are, which spares parsing what only the child reads. */
async function inputsJson({ input }: FunctionTask, context: TaskContext): Promise<string> {
  const members = await Promise.all(Object.entries(input).map(async ([name, value]) => `${JSON.stringify(name)}:${await context.fromValue(value)}`));
  return `{${members.join(",")}}`;
}

function resultOf(name: string, answer: FunctionAnswer, signal: AbortSignal): string {
  if (answer.kind === "result") return answer.json;
  if ((answer.kind === "interrupted" || answer.kind === "exited") && !answer.stopped) throw stopUnconfirmed(name);
  if (answer.kind === "interrupted") throw signal.reason;
  throw answerError(name, answer);
}

function settled(error: unknown, signal: AbortSignal, durationMs: number): Outcome {
  if (isStopUnconfirmed(error)) return failure(error, durationMs, { unknown: true });
  return interrupted(signal) ?? failure(error, durationMs);
}
