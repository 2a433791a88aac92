import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ForgeError } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { activeTurn, type SessionState, type TurnState } from "./state.ts";
import { unknownEvent } from "./unknown-event.ts";

type TurnPayload = Extract<
  Event["payload"],
  { case: "turnStarted" | "turnCancelRequested" | "turnCompleted" | "turnFailed" | "turnCancelled" | "turnAbandoned" }
>;

/** A turn's beginning and end. */
export function evolveTurn(state: SessionState, event: Event, payload: TurnPayload, atMs: number): SessionState {
  switch (payload.case) {
    case "turnStarted":
      if (activeTurn(state) !== undefined) throw unknownEvent(event, "a turn is active already");
      return {
        ...state,
        turnCount: state.turnCount + 1,
        turn: {
          turnId: event.turnId,
          startedAtMs: atMs,
          deadlineAtMs: payload.value.deadlineAt === undefined ? 0 : timestampMs(payload.value.deadlineAt),
          tools: payload.value.tools,
          modelCallCount: 0,
          toolCallCount: 0,
          usage: undefined,
          modelCall: undefined,
          toolCalls: [],
          answer: undefined,
          cancel: undefined,
          failure: undefined,
          resolutions: [],
          end: undefined,
        },
      };
    case "turnCancelRequested":
      return { ...state, turn: requestCancel(requireTurn(state, event), payload.value.reason) };
    case "turnCompleted":
      return ended(state, event, TurnStatus.COMPLETED, payload.value.outcome, undefined, atMs);
    case "turnFailed":
      return ended(state, event, TurnStatus.FAILED, payload.value.outcome, payload.value.error, atMs);
    case "turnCancelled":
      return ended(state, event, TurnStatus.CANCELLED, TurnOutcome.CANCELLED, undefined, atMs);
    case "turnAbandoned":
      return ended(state, event, TurnStatus.ABANDONED, TurnOutcome.UNKNOWN, undefined, atMs);
    default:
      return payload satisfies never;
  }
}

/** What was needed only while the turn ran goes; the answer stays where a parent has to be told of it. */
function ended(state: SessionState, event: Event, status: TurnStatus, outcome: TurnOutcome, error: ForgeError | undefined, endedAtMs: number): SessionState {
  const turn = requireTurn(state, event);
  return {
    ...state,
    turn: {
      ...turn,
      tools: [],
      modelCall: undefined,
      toolCalls: [],
      answer: state.parent === undefined ? undefined : turn.answer,
      end: { status, outcome, error, endedAtMs },
    },
  };
}

function requireTurn(state: SessionState, event: Event) {
  const turn = activeTurn(state);
  if (turn === undefined) throw unknownEvent(event, "no turn is active");
  return turn;
}

/** The first reason stands, however often it is asked for. */
function requestCancel(turn: TurnState, reason: string): TurnState {
  return { ...turn, cancel: turn.cancel ?? { reason } };
}
