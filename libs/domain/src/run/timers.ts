import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { ApprovalExpiredSchema, RunDeadlinePassedSchema } from "@forge/protocol/event";
import type { Rejected } from "../decider.ts";
import type { TimerFired } from "../task.ts";
import { beginAgain } from "./begin-step.ts";
import { refusal } from "./errors.ts";
import { deadlineTimerKey, executionOfTimer, retryTimerKey, waitTimerKey } from "./keys.ts";
import { type RunRecorder, record } from "./recorder.ts";
import { completeStep, recordStepFailure } from "./settle.ts";
import { type Execution, isActive, isStopping } from "./state.ts";
import { timeOutput, waitTimedOut } from "./wait.ts";

/** A time has come: of a next attempt, of a wait, or of the whole run. */
export function timerFired(run: RunRecorder, { key }: TimerFired): Rejected | undefined {
  const { state } = run;
  if (isActive(state) && key === deadlineTimerKey(state.deadlineFromMs) && state.definition?.deadline !== undefined && !isStopping(state)) {
    record(run, { case: "runDeadlinePassed", value: create(RunDeadlinePassedSchema) });
    return undefined;
  }
  const execution = executionOfTimer(state, key);
  if (execution?.waiting === true && execution.stopSeq === 0 && retryTimerKey(execution) === key) {
    beginAgain(run, execution);
    return undefined;
  }
  const over = execution !== undefined && (execution.wait?.untilMs ?? 0) > 0 && waitTimerKey(execution) === key ? execution : undefined;
  if (over === undefined)
    return refusal(ErrorCode.CONFLICT, "STEP_NOT_ACTIVE", `run ${state.runId} waits for nothing of timer ${key}; nothing was changed`, state.runId);
  endWait(run, over);
  return undefined;
}

function endWait(run: RunRecorder, execution: Execution): void {
  const { wait, stepId } = execution;
  if (wait?.signal === "" && wait.approvalId === "") return completeStep(run, execution, timeOutput(wait.untilMs), {});
  if (wait?.approvalId) record(run, { case: "approvalExpired", value: create(ApprovalExpiredSchema, { approvalId: wait.approvalId }) }, { stepId });
  recordStepFailure(run, execution, waitTimedOut(execution), undefined);
}
