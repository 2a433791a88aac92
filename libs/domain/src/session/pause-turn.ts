import { create } from "@bufbuild/protobuf";
import { TurnContinuedSchema, TurnPausedSchema } from "@forge/protocol/event";
import { type ContinueTurnRequest, ContinueTurnResponseSchema, type PauseTurnRequest, PauseTurnResponseSchema } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { namedTurn } from "./named-turn.ts";
import { conflict, turnCancelling } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";

/** Nothing is dispatched from now on. What was, finishes, and may end the turn; the deadline goes on as well. */
export function pauseTurn(recorder: SessionRecorder, request: PauseTurnRequest): SessionResult | Rejected {
  const named = namedTurn(recorder, request.turnId);
  if ("rejection" in named) return named;
  const { turnId, cancel, paused } = named.turn;
  if (cancel !== undefined) return turnCancelling(recorder.context.streamId, turnId);
  if (paused) return conflict("TURN_PAUSED", `Turn ${turnId} is paused already. Let it go on with ContinueTurn.`, [turnId]);
  recorder.record({ turnId, payload: { case: "turnPaused", value: create(TurnPausedSchema) } });
  return create(PauseTurnResponseSchema);
}

export function continueTurn(recorder: SessionRecorder, request: ContinueTurnRequest): SessionResult | Rejected {
  const named = namedTurn(recorder, request.turnId);
  if ("rejection" in named) return named;
  const { turnId, paused } = named.turn;
  if (!paused) return conflict("TURN_NOT_PAUSED", `Turn ${turnId} is not paused.`, [turnId]);
  recorder.record({ turnId, payload: { case: "turnContinued", value: create(TurnContinuedSchema) } });
  return create(ContinueTurnResponseSchema);
}
