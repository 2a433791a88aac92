import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { TaskCancelledSchema, TaskFailureSchema } from "@forge/protocol/worker";
import type { Outcome } from "./handler.ts";

/** An error as the end of a task. What is no ForgeError is a bug of the tool, not of its caller. */
export function failure(error: unknown, durationMs: number, options: { unknown?: boolean } = {}): Outcome {
  const forgeError =
    error instanceof ForgeError ? error : new ForgeError(ErrorCode.INTERNAL, error instanceof Error ? error.message : String(error), { origin: "tool" });
  return {
    case: "failure",
    value: create(TaskFailureSchema, { error: forgeError.detail, durationMs: BigInt(Math.round(durationMs)), unknown: options.unknown ?? false }),
  };
}

/** How a task ends that was interrupted and is known to have stopped; undefined where the task's signal is not the cause, or the deadline has an error of its own. */
export function interrupted(signal: AbortSignal): Outcome | undefined {
  if (!signal.aborted) return undefined;
  const reason: unknown = signal.reason;
  if (reason instanceof ForgeError && reason.code === ErrorCode.DEADLINE_EXCEEDED) return undefined;
  return { case: "cancelled", value: create(TaskCancelledSchema) };
}
