import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { RunCancelRequestedSchema } from "@forge/protocol/event";
import { CancelRunResponseSchema, RunStatus } from "@forge/protocol/workflow";
import type { Rejected } from "../decider.ts";
import { stopAttempt } from "./attempt.ts";
import { refusal } from "./errors.ts";
import { isIdempotent } from "./idempotent.ts";
import { type RunRecorder, record } from "./recorder.ts";
import type { RunResult } from "./run-command.ts";
import { isActive, type RunState } from "./state.ts";

/** Asks for the run to stop; asking again is allowed and changes nothing. What nobody can be doing ends at once, what somebody may be doing is waited for. */
export function cancelRun(run: RunRecorder): RunResult | Rejected {
  const { runId, status } = run.state;
  if (status === RunStatus.UNSPECIFIED) {
    return refusal(ErrorCode.NOT_FOUND, "RUN_NOT_FOUND", `there is no run ${run.context.streamId}; list the runs to find its id`, run.context.streamId);
  }
  if (!isActive(run.state)) return refusal(ErrorCode.CONFLICT, "RUN_ENDED", `run ${runId} has ended already; there is nothing to cancel`, runId);
  record(run, { case: "runCancelRequested", value: create(RunCancelRequestedSchema) });
  if (isIdle(run.state, run.context.nowMs)) stopAttempt(run, "The run was cancelled before the call began.");
  return create(CancelRunResponseSchema);
}

/**
 * Whether it is certain that nobody works for the run: a retry waits for its time, or the attempt needs a go-ahead that nobody has got, and nobody gets
 * one from now on.
 */
function isIdle({ current, ...state }: RunState, nowMs: number): boolean {
  if (current === undefined) return true;
  if (current.sessionId !== "") return false;
  return current.waiting || current.dueAtMs > nowMs || (!current.started && !isIdempotent({ ...state, current }, current));
}
