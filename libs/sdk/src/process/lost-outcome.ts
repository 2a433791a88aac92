import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { TaskCancelledSchema, TaskFailureSchema } from "@forge/protocol/worker";
import type { Outcome, TaskContext } from "@forge/worker";
import type { ProcessExit } from "./process-exit.ts";

export interface Loss {
  /** Whether its go-ahead was asked for. */
  readonly wasStarted: boolean;
  /** Whether some of its output was shown. */
  readonly hadOutput: boolean;
  /** Whether the process was ended because of this very call. */
  readonly isOwnFault: boolean;
  readonly exit: ProcessExit;
}

export const PROCESS_EXITED = "WORKER_PROCESS_EXITED";

/** How a call ends whose process has ended: stopped where it was told to stop; otherwise nobody knows what it did, unless it may be done twice. */
export function lostOutcome({ signal, task }: TaskContext, { wasStarted, hadOutput, isOwnFault, exit }: Loss): Outcome {
  const reason: unknown = signal.reason;
  if (signal.aborted) {
    if (reason instanceof ForgeError && reason.code === ErrorCode.DEADLINE_EXCEEDED)
      return { case: "failure", value: create(TaskFailureSchema, { error: reason.detail }) };
    return { case: "cancelled", value: create(TaskCancelledSchema) };
  }
  // Neither a model call nor a hook changes anything in the world.
  const isModel = task.kind.case === "model" || task.kind.case === "hook";
  const how = exit.signal === null ? `with exit code ${exit.code}` : `by ${exit.signal}`;
  const why = isOwnFault ? "it did not stop in time" : `its process ended ${how} while it ran`;
  const said = exit.lastWords.trim() === "" ? "" : `; the process had printed: ${exit.lastWords.trim()}`;
  const error = new ForgeError(ErrorCode.WORKER_LOST, `the call was lost: ${why}${said}`.toWellFormed(), {
    reason: PROCESS_EXITED,
    origin: "worker",
    retryable: isModel || !task.needsStart,
  });
  return {
    case: "failure",
    value: create(TaskFailureSchema, { error: error.detail, afterOutput: isModel && hadOutput, unknown: !isModel && task.needsStart && wasStarted }),
  };
}
