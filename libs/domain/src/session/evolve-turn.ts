import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ForgeError } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { HookAt, TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { ApprovalScope } from "@forge/protocol/tool";
import { markDispatched } from "./dispatch.ts";
import { nextHook } from "./hooks/hook-points.ts";
import { NO_HOOKS } from "./loop-state.ts";
import { activeTurn, type SessionState, SPANS_MAX, type TurnState } from "./state.ts";
import { unknownEvent } from "./unknown-event.ts";

type TurnPayload = Extract<
  Event["payload"],
  {
    case:
      | "turnStarted"
      | "turnSteered"
      | "turnPaused"
      | "turnContinued"
      | "turnCheckpointed"
      | "turnCancelRequested"
      | "turnCompleted"
      | "turnFailed"
      | "turnCancelled"
      | "turnAbandoned";
  }
>;

/** A turn's beginning and end, and what people tell it between. */
export function evolveTurn(state: SessionState, event: Event, payload: TurnPayload, atMs: number): SessionState {
  switch (payload.case) {
    case "turnStarted":
      if (activeTurn(state) !== undefined) throw unknownEvent(event, "a turn is active already");
      return {
        ...state,
        turnCount: state.turnCount + 1,
        turn: {
          turnId: event.turnId,
          startedSeq: Number(event.seq),
          startedAtMs: atMs,
          deadlineAtMs: payload.value.deadlineAt === undefined ? 0 : timestampMs(payload.value.deadlineAt),
          tools: payload.value.tools,
          model: state.agent?.model ?? "",
          modelCallCount: 0,
          toolCallCount: 0,
          extraRounds: 0,
          usage: undefined,
          steps: {
            lastSeq: Number(event.seq) - 1,
            beforeSeq: Number(event.seq) - 1,
            isAnswered: false,
            overflowed: false,
            callFailed: false,
            windowFailed: false,
          },
          hooks: NO_HOOKS,
          compaction: state.compacting === undefined ? undefined : { compactionId: state.compacting.compactionId, isOwn: false },
          requestSeq: 0,
          modelCall: undefined,
          toolCalls: [],
          answer: undefined,
          cancel: undefined,
          paused: false,
          steered: false,
          toolFailure: undefined,
          failure: undefined,
          resolutions: [],
          inputs: [],
          end: undefined,
        },
      };
    case "turnSteered":
      return { ...state, turn: heard(state, { ...requireTurn(state, event), steered: true }, event) };
    case "turnPaused":
      return { ...state, turn: paused(requireTurn(state, event), atMs) };
    case "turnContinued":
      return { ...state, turn: continued(requireTurn(state, event)) };
    case "turnCheckpointed":
      requireTurn(state, event);
      return state;
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

/** What a person says passes the hooks before any model reads it. */
export function heard(state: SessionState, turn: TurnState, event: Event): TurnState {
  if (nextHook(state.agent, HookAt.USER_MESSAGE, 0) === undefined) return turn;
  return { ...turn, hooks: { ...turn.hooks, unheard: [...turn.hooks.unheard, Number(event.seq)] } };
}

/** What was needed only while the turn ran goes; the answer stays where a parent has to be told of it. */
function ended(state: SessionState, event: Event, status: TurnStatus, outcome: TurnOutcome, error: ForgeError | undefined, endedAtMs: number): SessionState {
  const turn = requireTurn(state, event);
  return {
    ...state,
    grants: state.grants.filter(({ scope }) => scope === ApprovalScope.SESSION),
    spans: [...state.spans, { firstSeq: turn.startedSeq, lastSeq: Number(event.seq) }].slice(-SPANS_MAX),
    turn: {
      ...turn,
      tools: [],
      modelCall: undefined,
      toolCalls: [],
      hooks: NO_HOOKS,
      compaction: undefined,
      answer: state.parent === undefined && state.parentCall === undefined ? undefined : turn.answer,
      end: { status, outcome, error, endedAtMs },
    },
  };
}

function requireTurn(state: SessionState, event: Event) {
  const turn = activeTurn(state);
  if (turn === undefined) throw unknownEvent(event, "no turn is active");
  return turn;
}

/** The first reason stands, however often it is asked for. What stops is not held any more. */
function requestCancel(turn: TurnState, reason: string): TurnState {
  return { ...turn, cancel: turn.cancel ?? { reason }, paused: false };
}

/** A next attempt that is not due yet was not dispatched, and will not be. */
function paused(turn: TurnState, atMs: number): TurnState {
  const { modelCall } = turn;
  const toolCalls = turn.toolCalls.map((call) => ({ ...call, dispatched: call.dispatched && (call.started || call.dueAtMs <= atMs) }));
  if (modelCall === undefined) return { ...turn, paused: true, toolCalls };
  return { ...turn, paused: true, toolCalls, modelCall: { ...modelCall, dispatched: modelCall.started || modelCall.dueAtMs <= atMs } };
}

function continued(turn: TurnState): TurnState {
  const { modelCall } = turn;
  return markDispatched({ ...turn, paused: false, modelCall: modelCall === undefined ? undefined : { ...modelCall, dispatched: true } });
}
