import { create } from "@bufbuild/protobuf";
import {
  CheckpointKind,
  CompactionReason,
  FinishReason,
  MessageAddedSchema,
  ModelRequestedSchema,
  TurnCancelledSchema,
  TurnCompletedSchema,
  TurnFailedSchema,
} from "@forge/protocol/event";
import { HookAt, MessageSchema, Role, TurnOutcome } from "@forge/protocol/session";
import { shorten } from "../text.ts";
import { TEXT_PREVIEW_MAX } from "./answer.ts";
import { exceededBudget } from "./budget.ts";
import { checkpoint } from "./checkpoint.ts";
import { compactTurn, wantedCompaction } from "./compaction/compact-turn.ts";
import { contextOverflow } from "./compaction/evolve-compaction.ts";
import { failureRecovery } from "./failure-recovery.ts";
import { callHooks } from "./hooks/call-hooks.ts";
import { outputProblem, repairText } from "./output-schema.ts";
import { requestToolCalls } from "./request-tool-calls.ts";
import type { SessionRecorder } from "./session-command.ts";
import { type AnswerState, activeTurn, isIdle, type TurnState } from "./state.ts";
import { DEADLINE, DENIED, stopAfterFailure, TOOL_FAILED } from "./stop-turn.ts";
import { startChildren } from "./sub-agents/start-children.ts";

/**
 * What follows once nothing of the active turn is open: its end, what the answer asked for, or the next model call, with the hooks of each. It goes on until
 * somebody outside has to act; every step records something, and what may be recorded is bounded by the hooks, the calls and the budget.
 */
export function advanceTurn(recorder: SessionRecorder): void {
  while (advanceOnce(recorder));
}

/** Whether more may follow at once. */
function advanceOnce(recorder: SessionRecorder): boolean {
  const { state } = recorder;
  const turn = activeTurn(state);
  if (turn === undefined) return false;
  if (turn.toolFailure !== undefined && turn.cancel === undefined) return stopAfterFailure(recorder, turn);
  if (startChildren(recorder, turn)) return true;
  if (!isIdle(turn)) return false;
  const { hooks, failure } = turn;
  if (turn.cancel !== undefined) {
    // An answer that came all the same: its calls are on record as never made.
    if (hooks.answer !== undefined && hooks.answer.calls.length > 0) return requestToolCalls(recorder, hooks.answer);
    return stopTurn(recorder, turn, turn.cancel.reason);
  }
  const recovery = failure === undefined ? undefined : failureRecovery(state, turn, failure);
  if (failure !== undefined && recovery === undefined) return failTurn(recorder, turn);
  if (hooks.blocked !== undefined) return completeTurn(recorder, turn, TurnOutcome.BLOCKED);
  if (hooks.answer !== undefined && hooks.answer.requestedCount === 0) {
    const passed = callHooks(recorder, turn, { at: HookAt.POST_LLM, from: hooks.answer.next, aboutSeq: hooks.answer.seq });
    if (passed !== "passed") return passed === "recorded";
  }
  if (hooks.answer !== undefined && hooks.answer.calls.length > 0) return requestToolCalls(recorder, hooks.answer);
  const [message] = hooks.unheard;
  if (message !== undefined) return callHooks(recorder, turn, { at: HookAt.USER_MESSAGE, from: hooks.userNext, aboutSeq: message }) === "recorded";
  if (failure === undefined && endTurn(recorder, turn)) return true;
  const exceeded = exceededBudget(turn, state.agent?.budget);
  if (exceeded !== undefined) return failure === undefined ? completeTurn(recorder, turn, exceeded) : failTurn(recorder, turn);
  if (turn.paused || turn.compaction !== undefined) return false;
  if (recovery?.kind === "compact") return compactTurn(recorder, turn, CompactionReason.OVERFLOW, recovery.throughSeq);
  const throughSeq = wantedCompaction(state, turn);
  if (throughSeq !== undefined) return compactTurn(recorder, turn, CompactionReason.WINDOW, throughSeq);
  const passed = callHooks(recorder, turn, { at: HookAt.PRE_LLM, from: hooks.preNext, aboutSeq: 0 });
  if (passed !== "passed") return passed === "recorded";
  requestModel(recorder, turn, recovery?.model ?? turn.model);
  return false;
}

function stopTurn(recorder: SessionRecorder, turn: TurnState, reason: string): false {
  const { turnId, usage } = turn;
  if (reason === DEADLINE) return completeTurn(recorder, turn, TurnOutcome.BUDGET_WALL_TIME);
  if (reason === DENIED) return completeTurn(recorder, turn, TurnOutcome.DENIED);
  if (reason === TOOL_FAILED) return failTurn(recorder, { ...turn, failure: turn.toolFailure });
  recorder.record({ turnId, payload: { case: "turnCancelled", value: create(TurnCancelledSchema, { usage }) } });
  return false;
}

function failTurn(recorder: SessionRecorder, turn: TurnState): false {
  const { turnId, usage, failure } = turn;
  const error = failure?.reason === "CONTEXT_OVERFLOW" && failure.origin !== "control-plane" ? contextOverflow(failure) : failure;
  const value = create(TurnFailedSchema, { outcome: TurnOutcome.TASK_FAILED, error, usage });
  recorder.record({ turnId, payload: { case: "turnFailed", value }, sensitive: true });
  return false;
}

/** Ends a turn that its last answer ends. What a person said meanwhile deserves an answer, however the last one ended. Returns whether something was recorded. */
function endTurn(recorder: SessionRecorder, turn: TurnState): boolean {
  if (turn.steered || turn.hooks.goOn || !turn.steps.isAnswered) return false;
  const outcome = answeredOutcome(turn.answer);
  if (outcome === undefined) return false;
  const problem = outcome === TurnOutcome.TASK_COMPLETED ? outputProblem(recorder.state.agent, turn.answer?.text ?? "") : undefined;
  if (problem === undefined) completeTurn(recorder, turn, outcome);
  else if (turn.hooks.repairs > 0) completeTurn(recorder, turn, TurnOutcome.OUTPUT_INVALID);
  else askForRepair(recorder, turn, problem);
  return true;
}

/** How an answer ends the turn; undefined where it called tools, whose results the model has to see, or where there is none yet. */
function answeredOutcome(answer: AnswerState | undefined): TurnOutcome | undefined {
  if (answer === undefined) return undefined;
  if (answer.finishReason === FinishReason.CONTENT_FILTER) return TurnOutcome.REFUSED;
  if (answer.toolCallCount > 0) return answer.breakCount === answer.toolCallCount ? TurnOutcome.TASK_COMPLETED : undefined;
  if (answer.finishReason === FinishReason.LENGTH) return TurnOutcome.OUTPUT_CUT;
  return answer.finishReason === FinishReason.ERROR ? TurnOutcome.TASK_FAILED : TurnOutcome.TASK_COMPLETED;
}

function completeTurn(recorder: SessionRecorder, turn: TurnState, outcome: TurnOutcome): false {
  const textPreview = shorten(turn.answer?.text ?? "", TEXT_PREVIEW_MAX);
  const value = create(TurnCompletedSchema, { outcome, textPreview, usage: turn.usage });
  recorder.record({ turnId: turn.turnId, payload: { case: "turnCompleted", value }, sensitive: true });
  return false;
}

/** The model is told once what its answer lacks. */
function askForRepair(recorder: SessionRecorder, { turnId }: TurnState, problem: string): void {
  const parts = [{ kind: { case: "text" as const, value: { text: repairText(problem) } } }];
  const message = create(MessageSchema, { role: Role.USER, parts, ephemeral: true, turnId });
  recorder.record({ turnId, payload: { case: "messageAdded", value: create(MessageAddedSchema, { message }) }, sensitive: true });
}

function requestModel(recorder: SessionRecorder, turn: TurnState, model: string): void {
  checkpoint(recorder, turn.turnId, CheckpointKind.BEFORE_MODEL_CALL);
  const value = create(ModelRequestedSchema, { model, conversationThroughSeq: BigInt(recorder.seq), callIndex: turn.modelCallCount + 1 });
  recorder.record({ turnId: turn.turnId, modelCallId: recorder.context.newId(), payload: { case: "modelRequested", value } });
}
