import { create } from "@bufbuild/protobuf";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import {
  ModelCancelledSchema,
  ModelFailedSchema,
  ToolCancelledSchema,
  ToolSettledUnknownSchema,
  TurnAbandonedSchema,
  TurnCancelRequestedSchema,
} from "@forge/protocol/event";
import { type AbandonTurnRequest, AbandonTurnResponseSchema, type CancelTurnRequest, CancelTurnResponseSchema, SessionStatus } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { isStorable } from "../text.ts";
import { compactionError, failCompaction } from "./compaction/settle-compaction.ts";
import { stopHook } from "./hooks/settle-hook.ts";
import { invalid, sessionMissing, turnNotActive } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { activeTurn, isUnderWay, type TurnState } from "./state.ts";

const REASON_MAX = 1_024;

/** The reason of a stop whose turn ends as BUDGET_WALL_TIME. */
export const DEADLINE = "deadline";

/** The reason of a stop whose turn ends as DENIED: a person said so with a denial. */
export const DENIED = "denied";

/** The reason of a stop whose turn ends as TASK_FAILED: a tool call failed, and the agent's recovery says to stop. */
export const TOOL_FAILED = "tool_failed";

/** A parent does not know its turn's id, so in a session that works for a run's step, or for another session's call, an empty one names the active turn. */
export function cancelTurn(recorder: SessionRecorder, request: CancelTurnRequest): SessionResult | Rejected {
  const { state, context } = recorder;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  const byParent = request.turnId === "" && (state.parent !== undefined || state.parentCall !== undefined);
  if (request.turnId === "" && !byParent) return invalid("turn_id", "Name the turn to cancel.");
  const turn = activeTurn(state);
  if (turn === undefined || (!byParent && turn.turnId !== request.turnId)) return turnNotActive(context.streamId, request.turnId);
  requestStop(recorder, turn, byParent ? "parent" : "");
  return create(CancelTurnResponseSchema);
}

/** The turn's wall time has passed: it stops like a cancelled one, and its outcome says why. */
export function reachDeadline(recorder: SessionRecorder, turn: TurnState): void {
  requestStop(recorder, turn, DEADLINE);
}

/** A person denied a call and wants no more of it: the rest of the answer's calls stop as well. */
export function denyAndStop(recorder: SessionRecorder): void {
  const turn = activeTurn(recorder.state);
  if (turn !== undefined) requestStop(recorder, turn, DENIED);
}

/** Once a call has failed for a turn that is to stop then, what is still open stops too. */
export function stopAfterFailure(recorder: SessionRecorder, turn: TurnState): true {
  requestStop(recorder, turn, TOOL_FAILED);
  return true;
}

/** What was not dispatched ends at once; what was, stays open until its worker says that it has stopped. */
function requestStop(recorder: SessionRecorder, turn: TurnState, reason: string): void {
  recorder.record({ turnId: turn.turnId, payload: { case: "turnCancelRequested", value: create(TurnCancelRequestedSchema, { reason }) } });
  cancelUndispatched(recorder, turn, "The turn was asked to stop before the call was dispatched.");
}

/** Ends the calls that were not dispatched, and the hook that is asked: they are known never to have begun. */
export function cancelUndispatched(recorder: SessionRecorder, turn: TurnState, reason: string): void {
  const { turnId, modelCall } = turn;
  stopHook(recorder, turn, "The turn was asked to stop before the hook had answered.");
  if (modelCall?.dispatched === false) {
    recorder.record({ turnId, modelCallId: modelCall.modelCallId, payload: { case: "modelCancelled", value: create(ModelCancelledSchema) } });
  }
  for (const call of turn.toolCalls) {
    if (isUnderWay(call)) continue;
    recorder.record({
      turnId,
      toolCallId: call.toolCallId,
      payload: { case: "toolCancelled", value: create(ToolCancelledSchema, { reason }) },
    });
  }
}

/** Ends the turn by an operator's word. What was dispatched has an unknown outcome from then on; its late answers are only noted. */
export function abandonTurn(recorder: SessionRecorder, request: AbandonTurnRequest): SessionResult | Rejected {
  const { state, context } = recorder;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (request.turnId === "") return invalid("turn_id", "Name the turn to abandon.");
  if (request.reason.length > REASON_MAX || !isStorable(request.reason)) {
    return invalid("reason", `A reason has at most ${REASON_MAX} characters without NUL.`);
  }
  const turn = activeTurn(state);
  if (turn === undefined || turn.turnId !== request.turnId) return turnNotActive(context.streamId, request.turnId);
  const { turnId, modelCall } = turn;
  cancelUndispatched(recorder, turn, "The turn was abandoned before the call was dispatched.");
  for (const call of turn.toolCalls) {
    if (!isUnderWay(call)) continue;
    const value = create(ToolSettledUnknownSchema, { reason: "The turn was abandoned while the call was under way." });
    recorder.record({ turnId, toolCallId: call.toolCallId, payload: { case: "toolSettledUnknown", value } });
  }
  if (state.compacting !== undefined && turn.compaction?.isOwn === true) {
    failCompaction(
      recorder,
      state.compacting,
      compactionError(ErrorCode.CANCELLED, "TURN_ABANDONED", "The turn was abandoned while it waited for the summary."),
    );
  }
  if (modelCall?.dispatched === true) {
    const error = create(ForgeErrorSchema, {
      code: ErrorCode.CANCELLED,
      reason: "TURN_ABANDONED",
      message: `Turn ${turnId} was abandoned while model call ${modelCall.modelCallId} was under way; its outcome is unknown.`,
      origin: "control-plane",
      relatedIds: [turnId, modelCall.modelCallId],
    });
    recorder.record({ turnId, modelCallId: modelCall.modelCallId, payload: { case: "modelFailed", value: create(ModelFailedSchema, { error }) } });
  }
  recorder.record({
    turnId,
    payload: { case: "turnAbandoned", value: create(TurnAbandonedSchema, { reason: request.reason, usage: turn.usage }) },
    sensitive: true,
  });
  return create(AbandonTurnResponseSchema);
}
