import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Event } from "@forge/protocol/event";
import { CapabilityDecisionSchema, Decision } from "@forge/protocol/tool";
import { markDispatched } from "./dispatch.ts";
import { activeTurn, ENDED_CALLS_MAX, RESOLUTIONS_MAX, type Resolution, type SessionState, type ToolCallState, type TurnState } from "./state.ts";
import { unknownEvent } from "./unknown-event.ts";

type ToolPayload = Extract<
  Event["payload"],
  {
    case:
      | "toolRequested"
      | "toolApprovalRequired"
      | "toolDenied"
      | "toolStarted"
      | "toolCompleted"
      | "toolFailed"
      | "toolCancelled"
      | "toolSettledUnknown"
      | "approvalResolved"
      | "approvalExpired"
      | "turnInputRequested"
      | "turnInputProvided";
  }
>;

/** The turn's open tool calls and their approvals; after each event the calls whose turn has come are dispatched. */
export function evolveToolCall(state: SessionState, event: Event, payload: ToolPayload): SessionState {
  const turn = activeTurn(state);
  if (turn === undefined) throw unknownEvent(event, "no turn is active");
  if (payload.case === "toolRequested") return { ...state, turn: markDispatched(requested(turn, event.toolCallId, payload.value)) };
  const call = turn.toolCalls.find((open) => open.toolCallId === event.toolCallId);
  if (call === undefined) throw unknownEvent(event, `tool call ${event.toolCallId} is not open`);
  switch (payload.case) {
    case "toolApprovalRequired":
      return withCall(state, turn, {
        ...call,
        approval: {
          approvalId: payload.value.approvalId,
          requestedAtMs: event.occurredAt === undefined ? 0 : timestampMs(event.occurredAt),
          expiresAtMs: payload.value.expiresAt === undefined ? 0 : timestampMs(payload.value.expiresAt),
        },
      });
    case "approvalResolved": {
      const decision = payload.value.decision ?? create(CapabilityDecisionSchema, { decision: Decision.DENY });
      return withCall(state, resolved(turn, call, decision.decision, decision.decidedBy), { ...call, approval: undefined, decision });
    }
    case "approvalExpired":
      return withCall(state, resolved(turn, call, Decision.DENY, "expiry"), {
        ...call,
        approval: undefined,
        decision: create(CapabilityDecisionSchema, { ...call.decision, decision: Decision.DENY }),
      });
    case "turnInputRequested":
      return withCall(state, turn, {
        ...call,
        input: {
          inputId: payload.value.inputId,
          question: payload.value.question,
          requestedAtMs: event.occurredAt === undefined ? 0 : timestampMs(event.occurredAt),
          expiresAtMs: payload.value.expiresAt === undefined ? 0 : timestampMs(payload.value.expiresAt),
        },
      });
    case "turnInputProvided":
      return withCall(state, answered(turn, call, event.principal?.id ?? ""), { ...call, input: undefined });
    case "toolStarted":
      return withCall(state, turn, { ...call, started: true });
    case "toolCancelled":
      return withoutCall(state, answered(resolved(turn, call, Decision.DENY, "cancel"), call, "cancel"), call);
    case "toolFailed":
      return withoutCall(state, answered(turn, call, "expiry"), call);
    case "toolDenied":
    case "toolCompleted":
    case "toolSettledUnknown":
      return withoutCall(state, turn, call);
    default:
      return payload satisfies never;
  }
}

/** A second request of an open call is its next dispatch, after a lost lease: intended anew before it happens anew, bound to the same decision. */
function requested(turn: TurnState, toolCallId: string, value: Extract<ToolPayload, { case: "toolRequested" }>["value"]): TurnState {
  const decision = value.decision ?? create(CapabilityDecisionSchema, { decision: Decision.DENY });
  if (turn.toolCalls.some((call) => call.toolCallId === toolCallId)) {
    return {
      ...turn,
      toolCalls: turn.toolCalls.map((call) =>
        call.toolCallId === toolCallId ? { ...call, dispatched: !turn.paused, started: false, lostLeases: call.lostLeases + 1 } : call,
      ),
    };
  }
  const call: ToolCallState = {
    toolCallId,
    providerCallId: value.providerCallId,
    tool: value.tool,
    argumentsJson: value.argumentsJson,
    decision,
    dispatched: false,
    started: false,
    lostLeases: 0,
    approval: undefined,
    input: undefined,
  };
  return { ...turn, toolCallCount: turn.toolCallCount + 1, toolCalls: [...turn.toolCalls, call] };
}

/** Remembers how an approval that was open ended, for those who answer it later. */
function resolved(turn: TurnState, call: ToolCallState, decision: Decision, decidedBy: string): TurnState {
  if (call.approval === undefined) return turn;
  const resolution: Resolution = { approvalId: call.approval.approvalId, decision, decidedBy };
  return { ...turn, resolutions: [...turn.resolutions, resolution].slice(-RESOLUTIONS_MAX) };
}

/** Remembers how a question that was open ended, for those who answer it later. */
function answered(turn: TurnState, call: ToolCallState, providedBy: string): TurnState {
  if (call.input === undefined) return turn;
  return { ...turn, inputs: [...turn.inputs, { inputId: call.input.inputId, providedBy }].slice(-RESOLUTIONS_MAX) };
}

function withCall(state: SessionState, turn: TurnState, call: ToolCallState): SessionState {
  const toolCalls = turn.toolCalls.map((open) => (open.toolCallId === call.toolCallId ? call : open));
  return { ...state, turn: markDispatched({ ...turn, toolCalls }) };
}

function withoutCall(state: SessionState, turn: TurnState, call: ToolCallState): SessionState {
  const toolCalls = turn.toolCalls.filter((open) => open.toolCallId !== call.toolCallId);
  const ended = { toolCallId: call.toolCallId, turnId: turn.turnId, reportedLate: false };
  return {
    ...state,
    turn: markDispatched({ ...turn, toolCalls }),
    endedCalls: call.dispatched || call.lostLeases > 0 ? [...state.endedCalls, ended].slice(-ENDED_CALLS_MAX) : state.endedCalls,
  };
}
