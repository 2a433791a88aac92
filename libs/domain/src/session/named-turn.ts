import { SessionStatus } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { invalid, sessionMissing, turnNotActive } from "./rejections.ts";
import type { SessionRecorder } from "./session-command.ts";
import { activeTurn, type TurnState } from "./state.ts";

/** The active turn, which a command must name, so that it never reaches the turn after the one that was meant. */
export function namedTurn(recorder: SessionRecorder, turnId: string): { readonly turn: TurnState } | Rejected {
  const { state, context } = recorder;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (turnId === "") return invalid("turn_id", "Name the turn that is meant.");
  const turn = activeTurn(state);
  return turn === undefined || turn.turnId !== turnId ? turnNotActive(context.streamId, turnId) : { turn };
}
