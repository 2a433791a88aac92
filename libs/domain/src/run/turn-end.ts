import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, ForgeErrorSchema } from "@forge/protocol/common";
import type { RejectCommand, ReportTurnEnd } from "@forge/protocol/engine";
import { RunFailedSchema } from "@forge/protocol/event";
import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { asksForKey } from "./concurrency.ts";
import { refusal, reportedError, stepError } from "./errors.ts";
import { allExecutions, executionAwaiting } from "./executions.ts";
import { streamCommandId } from "./keys.ts";
import { agentOutput } from "./output.ts";
import { type RunRecorder, record } from "./recorder.ts";
import { completeStep, failAttempt, recordStepCancelled } from "./settle.ts";
import { type Execution, type RunState, stepAt } from "./state.ts";

/** What agent steps hear of their sessions. Each returns a refusal, or undefined once it has recorded what follows. */

export function turnEnded(run: RunRecorder, report: ReportTurnEnd): Rejected | undefined {
  const { state } = run;
  const execution = executionAwaiting(state.executions, "session", report.sessionId);
  if (execution === undefined) return attemptNotOpen(state, `session ${report.sessionId}`);
  const { usage } = report;
  if (report.status === TurnStatus.COMPLETED && report.outcome === TurnOutcome.TASK_COMPLETED) {
    const output = agentOutput(stepAt(state, execution.position), report.text, run.context);
    if (output.ok) completeStep(run, execution, output.value, { usage, handlerDurationMs: BigInt(Math.max(0, run.context.nowMs - execution.decidedAtMs)) });
    else failAttempt(run, execution, output.error, { retry: true, usage });
    return undefined;
  }
  if (report.status === TurnStatus.CANCELLED && execution.stopSeq > 0) {
    recordStepCancelled(run, execution, usage);
    return undefined;
  }
  // Who stops or gives up a turn by hand does not want it begun anew.
  const stoppedByHand = report.status === TurnStatus.CANCELLED || report.status === TurnStatus.ABANDONED || report.outcome === TurnOutcome.UNKNOWN;
  failAttempt(run, execution, turnError(execution, report), { retry: !stoppedByHand, usage });
  return undefined;
}

function turnError(execution: Execution, report: ReportTurnEnd): ForgeError {
  if (report.error !== undefined) return withStream(reportedError(report.error, "session"), report.sessionId);
  const [code, reason, what] = failureOf(report);
  return withStream(stepError(code, reason, execution.stepId, `${what}; read session ${report.sessionId} for what came before`), report.sessionId);
}

function withStream(error: ForgeError, streamId: string): ForgeError {
  return create(ForgeErrorSchema, { ...error, relatedIds: [...error.relatedIds, streamId] });
}

function failureOf({ status, outcome }: ReportTurnEnd): readonly [code: ErrorCode, reason: string, what: string] {
  if (status === TurnStatus.ABANDONED) return [ErrorCode.WORKER_LOST, "UNKNOWN_EFFECT", "the agent's turn was abandoned, so what it did is unknown"];
  switch (outcome) {
    case TurnOutcome.BUDGET_MODEL_CALLS:
      return [ErrorCode.RESOURCE_EXHAUSTED, "BUDGET_MODEL_CALLS", "the agent's turn reached its bound of model calls"];
    case TurnOutcome.BUDGET_TOOL_CALLS:
      return [ErrorCode.RESOURCE_EXHAUSTED, "BUDGET_TOOL_CALLS", "the agent's turn reached its bound of tool calls"];
    case TurnOutcome.BUDGET_TOKENS:
      return [ErrorCode.RESOURCE_EXHAUSTED, "BUDGET_TOKENS", "the agent's turn reached its bound of tokens"];
    case TurnOutcome.BUDGET_COST:
      return [ErrorCode.RESOURCE_EXHAUSTED, "BUDGET_COST", "the agent's turn reached its bound of cost"];
    case TurnOutcome.BUDGET_WALL_TIME:
      return [ErrorCode.DEADLINE_EXCEEDED, "BUDGET_WALL_TIME", "the agent's turn took longer than it may"];
    case TurnOutcome.CANCELLED:
      return [ErrorCode.CANCELLED, "STEP_EXECUTION", "the agent's turn was cancelled"];
    case TurnOutcome.REFUSED:
      return [ErrorCode.PROVIDER_ERROR, "STEP_EXECUTION", "the model refused to answer"];
    case TurnOutcome.OUTPUT_CUT:
      return [ErrorCode.PROVIDER_ERROR, "STEP_EXECUTION", "the model's answer was cut short"];
    case TurnOutcome.BUDGET_STEPS:
      return [ErrorCode.RESOURCE_EXHAUSTED, "BUDGET_STEPS", "the agent's turn reached its bound of steps"];
    case TurnOutcome.DENIED:
      return [ErrorCode.PERMISSION_DENIED, "STEP_EXECUTION", "a person denied a call of the agent's and stopped its turn"];
    case TurnOutcome.BLOCKED:
      return [ErrorCode.PERMISSION_DENIED, "STEP_EXECUTION", "a hook ended the agent's turn"];
    case TurnOutcome.OUTPUT_INVALID:
      return [ErrorCode.VALIDATION, "STEP_EXECUTION", "the agent's answer does not match its schema"];
    case TurnOutcome.UNKNOWN:
      return [ErrorCode.WORKER_LOST, "UNKNOWN_EFFECT", "what the agent's turn did is unknown"];
    default:
      return [ErrorCode.INTERNAL, "STEP_EXECUTION", "the agent's turn failed"];
  }
}

/** A session refused to be created or to start its turn, or a run to be started: the attempt has failed. A refused cancel changes nothing: the turn's end is on its way. */
export function commandRejected(run: RunRecorder, { commandId, error }: RejectCommand): Rejected | undefined {
  const { state } = run;
  if (asksForKey(state, commandId)) {
    record(run, { case: "runFailed", value: create(RunFailedSchema, { error: reportedError(error, "control-plane") }) });
    return undefined;
  }
  const execution = allExecutions(state.executions).find((each) => opensAttempt(state, each, commandId));
  if (execution === undefined) return attemptNotOpen(state, `command ${commandId}`);
  const { sessionId, childRunId } = execution;
  failAttempt(run, execution, withStream(reportedError(error, sessionId === "" ? "run" : "session"), sessionId || childRunId), { retry: true });
  return undefined;
}

function opensAttempt(state: RunState, execution: Execution, commandId: string): boolean {
  if (execution.sessionId === "" && execution.childRunId === "") return false;
  return commandId === streamCommandId(state.runId, execution, "create") || commandId === streamCommandId(state.runId, execution, "turn");
}

function attemptNotOpen(state: RunState, what: string): Rejected {
  return refusal(ErrorCode.CONFLICT, "STEP_NOT_ACTIVE", `run ${state.runId} waits for nothing of ${what}; nothing was changed`, state.runId);
}
