import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, ForgeErrorSchema } from "@forge/protocol/common";
import type { ReportRunEnd } from "@forge/protocol/engine";
import { RunStatus } from "@forge/protocol/workflow";
import type { Rejected } from "../decider.ts";
import { refusal, reportedError, stepError } from "./errors.ts";
import { executionAwaiting } from "./executions.ts";
import { checkOutput } from "./output.ts";
import type { RunRecorder } from "./recorder.ts";
import { completeStep, failAttempt, recordStepCancelled } from "./settle.ts";
import { type Execution, stepAt } from "./state.ts";

/** The run that a workflow step started has ended. */
export function runEnded(run: RunRecorder, report: ReportRunEnd): Rejected | undefined {
  const { state, context } = run;
  const execution = executionAwaiting(state.executions, "run", report.runId);
  if (execution === undefined) {
    return refusal(ErrorCode.CONFLICT, "STEP_NOT_ACTIVE", `run ${state.runId} waits for nothing of run ${report.runId}; nothing was changed`, state.runId);
  }
  const { usage } = report;
  switch (report.status) {
    case RunStatus.COMPLETED:
    case RunStatus.COMPLETED_WITH_ERRORS: {
      const output = checkOutput(stepAt(state, execution.position), report.output, context);
      if (output.ok) completeStep(run, execution, output.value, { usage, handlerDurationMs: BigInt(Math.max(0, context.nowMs - execution.decidedAtMs)) });
      else failAttempt(run, execution, output.error, { retry: true, usage });
      return undefined;
    }
    case RunStatus.CANCELLED:
      if (execution.stopSeq > 0) recordStepCancelled(run, execution, usage);
      else
        failAttempt(
          run,
          execution,
          withRun(stepError(ErrorCode.CANCELLED, "STEP_EXECUTION", execution.stepId, "the run that it started was cancelled"), report),
          { retry: false, usage },
        );
      return undefined;
    default:
      failAttempt(run, execution, childError(execution, report), { retry: true, usage });
      return undefined;
  }
}

function childError(execution: Execution, report: ReportRunEnd): ForgeError {
  if (report.error !== undefined) return withRun(reportedError(report.error, "run"), report);
  return withRun(stepError(ErrorCode.INTERNAL, "STEP_EXECUTION", execution.stepId, "the run that it started failed"), report);
}

function withRun(error: ForgeError, { runId }: ReportRunEnd): ForgeError {
  return create(ForgeErrorSchema, { ...error, relatedIds: [...error.relatedIds, runId] });
}
