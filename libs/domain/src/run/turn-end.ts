import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, ForgeErrorSchema } from "@forge/protocol/common";
import type { RejectCommand, ReportTurnEnd } from "@forge/protocol/engine";
import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { RunStatus } from "@forge/protocol/workflow";
import type { Rejected } from "../decider.ts";
import type { TimerFired } from "../task.ts";
import { completeStep, endCancelled, failAttempt } from "./advance.ts";
import { beginAgentAgain } from "./begin-step.ts";
import { refusal, reportedError, stepError } from "./errors.ts";
import { retryTimerKey, sessionCommandId } from "./keys.ts";
import { agentOutput } from "./output.ts";
import type { RunRecorder } from "./recorder.ts";
import { type CurrentStep, type RunState, stepAt } from "./state.ts";

/** What agent steps hear of their sessions. Each returns a refusal, or undefined once it has recorded what follows. */

export function turnEnded(run: RunRecorder, report: ReportTurnEnd): Rejected | undefined {
  const { state } = run;
  const { current } = state;
  if (current === undefined || current.sessionId === "" || current.sessionId !== report.sessionId) return attemptNotOpen(state, `session ${report.sessionId}`);
  const { usage } = report;
  if (report.status === TurnStatus.COMPLETED && report.outcome === TurnOutcome.TASK_COMPLETED) {
    const output = agentOutput(stepAt(state, current.position), report.text, run.context);
    if (output.ok) completeStep(run, output.value, { usage, handlerDurationMs: BigInt(Math.max(0, run.context.nowMs - current.decidedAtMs)) });
    else failAttempt(run, output.error, { retry: true, usage });
    return undefined;
  }
  if (report.status === TurnStatus.CANCELLED && state.status === RunStatus.CANCELLING) {
    endCancelled(run);
    return undefined;
  }
  // Who stops or gives up a turn by hand does not want it begun anew.
  const stoppedByHand = report.status === TurnStatus.CANCELLED || report.status === TurnStatus.ABANDONED || report.outcome === TurnOutcome.UNKNOWN;
  failAttempt(run, turnError(current, report), { retry: !stoppedByHand, usage });
  return undefined;
}

function turnError(current: CurrentStep, report: ReportTurnEnd): ForgeError {
  if (report.error !== undefined) return withSession(reportedError(report.error, "session"), report.sessionId);
  const [code, reason, what] = failureOf(report);
  return withSession(stepError(code, reason, current.stepId, `${what}; read session ${report.sessionId} for what came before`), report.sessionId);
}

function withSession(error: ForgeError, sessionId: string): ForgeError {
  return create(ForgeErrorSchema, { ...error, relatedIds: [...error.relatedIds, sessionId] });
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
    case TurnOutcome.UNKNOWN:
      return [ErrorCode.WORKER_LOST, "UNKNOWN_EFFECT", "what the agent's turn did is unknown"];
    default:
      return [ErrorCode.INTERNAL, "STEP_EXECUTION", "the agent's turn failed"];
  }
}

/** A session refused to be created or to start its turn: the attempt has failed. A refused cancel changes nothing: the turn's end is on its way. */
export function commandRejected(run: RunRecorder, { commandId, error }: RejectCommand): Rejected | undefined {
  const { state } = run;
  const { current } = state;
  if (current === undefined || current.sessionId === "" || !opensAttempt(state, current, commandId)) return attemptNotOpen(state, `command ${commandId}`);
  failAttempt(run, withSession(reportedError(error, "session"), current.sessionId), { retry: true });
  return undefined;
}

function opensAttempt(state: RunState, current: CurrentStep, commandId: string): boolean {
  return commandId === sessionCommandId(state.runId, current, "create") || commandId === sessionCommandId(state.runId, current, "turn");
}

/** The time of an agent step's next attempt has come. */
export function timerFired(run: RunRecorder, { key }: TimerFired): Rejected | undefined {
  const { current } = run.state;
  if (current === undefined || !current.waiting || retryTimerKey(current) !== key) return attemptNotOpen(run.state, `timer ${key}`);
  beginAgentAgain(run, current);
  return undefined;
}

function attemptNotOpen(state: RunState, what: string): Rejected {
  return refusal(ErrorCode.CONFLICT, "STEP_NOT_ACTIVE", `run ${state.runId} waits for nothing of ${what}; nothing was changed`, state.runId);
}
