import type { Event } from "@forge/protocol/event";
import { activeTurn, type SessionState } from "./state.ts";

/** What the loop remembers of a tool call's beginning and end: which calls of the answer are still to be requested, and how many failed in a row. */
export function noteCall(state: SessionState, event: Event): SessionState {
  const turn = activeTurn(state);
  if (turn === undefined) return state;
  const { hooks } = turn;
  switch (event.payload.case) {
    case "toolRequested": {
      const { answer } = hooks;
      if (answer === undefined) return state;
      const calls = answer.calls.filter(({ toolCallId }) => toolCallId !== event.toolCallId);
      if (calls.length === answer.calls.length) return state;
      return { ...state, turn: { ...turn, hooks: { ...hooks, answer: { ...answer, calls, requestedCount: answer.requestedCount + 1 } } } };
    }
    case "toolFailed":
    case "toolSettledUnknown":
      return { ...state, turn: { ...turn, hooks: { ...hooks, failuresInRow: hooks.failuresInRow + 1 } } };
    case "toolCompleted":
      return { ...state, turn: { ...turn, hooks: { ...hooks, failuresInRow: 0 } } };
    default:
      return state;
  }
}
