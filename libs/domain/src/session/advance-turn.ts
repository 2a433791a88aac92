import { create } from "@bufbuild/protobuf";
import { CheckpointKind, FinishReason, ModelRequestedSchema, TurnCancelledSchema, TurnCompletedSchema, TurnFailedSchema } from "@forge/protocol/event";
import { TurnOutcome } from "@forge/protocol/session";
import { shorten } from "../text.ts";
import { TEXT_PREVIEW_MAX } from "./answer.ts";
import { exceededBudget } from "./budget.ts";
import { checkpoint } from "./checkpoint.ts";
import type { SessionRecorder } from "./session-command.ts";
import { type AnswerState, activeTurn, isIdle, type TurnState } from "./state.ts";
import { DEADLINE } from "./stop-turn.ts";

/**
 * What follows once nothing of the active turn is open: its end, or the next model call. One step is enough: each of them leaves nothing more that
 * follows without somebody outside.
 */
export function advanceTurn(recorder: SessionRecorder): void {
  const turn = activeTurn(recorder.state);
  if (turn === undefined || !isIdle(turn)) return;
  const { turnId, usage } = turn;
  if (turn.cancel !== undefined && turn.cancel.reason !== DEADLINE) {
    recorder.record({ turnId, payload: { case: "turnCancelled", value: create(TurnCancelledSchema, { usage }) } });
    return;
  }
  const outcome = turn.cancel === undefined ? undefined : TurnOutcome.BUDGET_WALL_TIME;
  if (outcome === undefined && turn.failure !== undefined) {
    const value = create(TurnFailedSchema, { outcome: TurnOutcome.TASK_FAILED, error: turn.failure, usage });
    recorder.record({ turnId, payload: { case: "turnFailed", value }, sensitive: true });
    return;
  }
  // What a person said meanwhile deserves an answer, however the last one ended.
  const answered = turn.steered ? undefined : answeredOutcome(turn.answer);
  const end = outcome ?? answered ?? exceededBudget(turn, recorder.state.agent?.budget);
  if (end !== undefined) completeTurn(recorder, turn, end);
  else if (!turn.paused) requestModel(recorder, turn);
}

/** How an answer ends the turn; undefined where it called tools, whose results the model has to see, or where there is none yet. */
function answeredOutcome(answer: AnswerState | undefined): TurnOutcome | undefined {
  if (answer === undefined) return undefined;
  if (answer.finishReason === FinishReason.CONTENT_FILTER) return TurnOutcome.REFUSED;
  if (answer.toolCallCount > 0) return undefined;
  if (answer.finishReason === FinishReason.LENGTH) return TurnOutcome.OUTPUT_CUT;
  return answer.finishReason === FinishReason.ERROR ? TurnOutcome.TASK_FAILED : TurnOutcome.TASK_COMPLETED;
}

function completeTurn(recorder: SessionRecorder, turn: TurnState, outcome: TurnOutcome): void {
  const textPreview = shorten(turn.answer?.text ?? "", TEXT_PREVIEW_MAX);
  const value = create(TurnCompletedSchema, { outcome, textPreview, usage: turn.usage });
  recorder.record({ turnId: turn.turnId, payload: { case: "turnCompleted", value }, sensitive: true });
}

function requestModel(recorder: SessionRecorder, turn: TurnState): void {
  checkpoint(recorder, turn.turnId, CheckpointKind.BEFORE_MODEL_CALL);
  const value = create(ModelRequestedSchema, {
    model: recorder.state.agent?.model ?? "",
    conversationThroughSeq: BigInt(recorder.seq),
    callIndex: turn.modelCallCount + 1,
  });
  recorder.record({ turnId: turn.turnId, modelCallId: recorder.context.newId(), payload: { case: "modelRequested", value } });
}
