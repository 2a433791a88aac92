import { stopAttempt } from "./attempt.ts";
import { askedIn } from "./executions.ts";
import { isIdempotent } from "./idempotent.ts";
import type { RunRecorder } from "./recorder.ts";
import type { Execution, RunState } from "./state.ts";

/** Ends the first execution that was asked to stop and that certainly nobody works for; false where there is none. */
export function endIdle(run: RunRecorder): boolean {
  const idle = askedIn(run.state.executions).find((execution) => isIdle(run.state, execution, run.context.nowMs));
  if (idle === undefined) return false;
  stopAttempt(run, idle, "The run was stopped before the call began.");
  return true;
}

/** It waits, a retry waits for its time, or the attempt needs a go-ahead that nobody has got, and nobody gets one from now on. */
function isIdle(state: RunState, execution: Execution, nowMs: number): boolean {
  if (execution.wait !== undefined) return true;
  if (execution.group !== undefined || execution.sessionId !== "" || execution.childRunId !== "") return false;
  return execution.waiting || execution.dueAtMs > nowMs || (!execution.started && !isIdempotent(state, execution));
}
