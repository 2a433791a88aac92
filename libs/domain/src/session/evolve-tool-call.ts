import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode, type ForgeError, ForgeErrorSchema } from "@forge/protocol/common";
import type { Event, ToolPreviewed } from "@forge/protocol/event";
import { ErrorRecovery } from "@forge/protocol/session";
import { CapabilityDecisionSchema, Decision, type ToolPreview, ToolPreviewSchema } from "@forge/protocol/tool";
import { modeOf } from "../tool-policy.ts";
import { markDispatched } from "./dispatch.ts";
import { goesOnWithInput } from "./goes-on-with-input.ts";
import { withGrant } from "./grants.ts";
import { isStale } from "./is-stale.ts";
import { attemptsBefore } from "./keys.ts";
import { activeTurn, ENDED_CALLS_MAX, findTool, RESOLUTIONS_MAX, type Resolution, type SessionState, type ToolCallState, type TurnState } from "./state.ts";
import { subAgentOf } from "./sub-agents/sub-agent.ts";
import { unknownEvent } from "./unknown-event.ts";

type ToolPayload = Extract<
  Event["payload"],
  {
    case:
      | "toolRequested"
      | "toolPreviewed"
      | "toolArgumentsEdited"
      | "toolRetried"
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
  if (payload.case === "toolRequested") return { ...state, turn: markDispatched(requested(state, turn, event.toolCallId, payload.value)) };
  const call = turn.toolCalls.find((open) => open.toolCallId === event.toolCallId);
  if (call === undefined) throw unknownEvent(event, `tool call ${event.toolCallId} is not open`);
  switch (payload.case) {
    case "toolPreviewed":
      return withCall(state, turn, previewed(state, call, event, payload.value));
    case "toolArgumentsEdited":
      return withCall(state, turn, { ...call, argumentsJson: payload.value.argumentsJson, edited: true, previewed: undefined });
    case "toolRetried":
      if (isStale(payload.value.error)) return withCall(state, turn, lookedAtAgain(call));
      return withCall(state, turn, {
        ...call,
        dispatched: !turn.paused,
        started: false,
        failedAttempts: call.failedAttempts + 1,
        dueAtMs: payload.value.nextAttemptAt === undefined ? 0 : timestampMs(payload.value.nextAttemptAt),
      });
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
      const answeredCall = { ...call, approval: undefined, decision, mode: modeOf(state.policy), previewed: withoutDiff(call.previewed) };
      // What a person edited is looked at once more before it is executed as he allowed it.
      const again = decision.decision === Decision.ALLOW && call.edited && findTool(turn, call.tool)?.previews === true;
      const { grant } = payload.value;
      return withCall(
        grant === undefined ? state : { ...state, grants: withGrant(state.grants, grant) },
        resolved(turn, call, decision.decision, decision.decidedBy),
        again ? { ...answeredCall, previewing: { dispatched: false }, previewCount: call.previewCount + 1 } : answeredCall,
      );
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
        dispatched: false,
        started: false,
        resumeJson: payload.value.resumeJson,
        input: {
          inputId: payload.value.inputId,
          question: payload.value.question,
          error: payload.value.error,
          requestedAtMs: event.occurredAt === undefined ? 0 : timestampMs(event.occurredAt),
          expiresAtMs: payload.value.expiresAt === undefined ? 0 : timestampMs(payload.value.expiresAt),
        },
      });
    case "turnInputProvided":
      return withCall(state, answered(turn, call, event.principal?.id ?? ""), {
        ...call,
        input: undefined,
        providedInputs: goesOnWithInput(call) ? [...call.providedInputs, payload.value.text] : call.providedInputs,
      });
    case "toolStarted":
      return withCall(state, turn, { ...call, started: true });
    case "toolCancelled":
      return withoutCall(state, answered(resolved(turn, call, Decision.DENY, "cancel"), call, "cancel"), call);
    case "toolFailed":
      return withoutCall(state, failing(state, answered(turn, call, "expiry"), payload.value.error), call);
    case "toolCompleted":
      return withoutCall(state, payload.value.breakTurn ? breaking(turn) : turn, call);
    case "toolSettledUnknown": {
      const { reason: message } = payload.value;
      const error = create(ForgeErrorSchema, { code: ErrorCode.WORKER_LOST, reason: "UNKNOWN_EFFECT", message, origin: "control-plane" });
      return withoutCall(state, failing(state, turn, error), call);
    }
    case "toolDenied":
      return withoutCall(state, answered(turn, call, "policy"), call);
    default:
      return payload satisfies never;
  }
}

/** A second request of an open call is its next dispatch, after a lost lease: intended anew before it happens anew, bound to the same decision. */
function requested(state: SessionState, turn: TurnState, toolCallId: string, value: Extract<ToolPayload, { case: "toolRequested" }>["value"]): TurnState {
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
    mode: modeOf(state.policy),
    previewing: decision.decision === Decision.PREVIEW ? { dispatched: false } : undefined,
    previewCount: decision.decision === Decision.PREVIEW ? 1 : 0,
    previewed: undefined,
    previewedSeq: 0,
    edited: false,
    dispatched: false,
    started: false,
    lostLeases: 0,
    isChild: subAgentOf(state.agent, value.tool) !== undefined,
    failedAttempts: 0,
    dueAtMs: 0,
    providedInputs: [],
    resumeJson: "",
    approval: undefined,
    input: undefined,
  };
  return { ...turn, toolCallCount: turn.toolCallCount + 1, toolCalls: [...turn.toolCalls, call] };
}

/** The call is decided on anew, by what its worker says now. */
function lookedAtAgain(call: ToolCallState): ToolCallState {
  return {
    ...call,
    decision: create(CapabilityDecisionSchema, { ...call.decision, decision: Decision.PREVIEW, previewDigest: "" }),
    dispatched: false,
    started: false,
    failedAttempts: call.failedAttempts + 1,
    previewing: { dispatched: false },
    previewCount: call.previewCount + 1,
    previewed: undefined,
    edited: false,
  };
}

/** The diff is kept for the person who is asked; nobody else needs it again. */
function previewed(state: SessionState, call: ToolCallState, event: Event, { decision, preview }: ToolPreviewed): ToolCallState {
  const bound = decision ?? create(CapabilityDecisionSchema, { decision: Decision.DENY });
  const kept = bound.decision === Decision.ASK ? preview : withoutDiff(preview);
  return { ...call, previewing: undefined, previewed: kept, previewedSeq: Number(event.seq), decision: bound, mode: modeOf(state.policy) };
}

function withoutDiff(preview: ToolPreview | undefined): ToolPreview | undefined {
  return preview === undefined ? undefined : create(ToolPreviewSchema, { ...preview, diff: "", diffArtifact: undefined });
}

/** Where the agent's recovery says so, a failed call is the turn's failure; the first one stands. */
function failing(state: SessionState, turn: TurnState, error: ForgeError | undefined): TurnState {
  return state.agent?.errorRecovery === ErrorRecovery.STOP ? { ...turn, toolFailure: turn.toolFailure ?? error } : turn;
}

function breaking(turn: TurnState): TurnState {
  return turn.answer === undefined ? turn : { ...turn, answer: { ...turn.answer, breakCount: turn.answer.breakCount + 1 } };
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
  const ended = { toolCallId: call.toolCallId, turnId: turn.turnId, tool: call.tool, isChild: call.isChild, reportedLate: false };
  return {
    ...state,
    turn: markDispatched({ ...turn, toolCalls }),
    endedCalls: call.dispatched || attemptsBefore(call) > 0 ? [...state.endedCalls, ended].slice(-ENDED_CALLS_MAX) : state.endedCalls,
  };
}
