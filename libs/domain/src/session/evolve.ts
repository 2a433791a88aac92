import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Event } from "@forge/protocol/event";
import { SessionStatus } from "@forge/protocol/session";
import { addUsage } from "../usage.ts";
import { contextAfter } from "./compaction/context-use.ts";
import { evolveCompaction, withoutCompaction } from "./compaction/evolve-compaction.ts";
import { evolveChanges } from "./evolve-changes.ts";
import { evolveMessage } from "./evolve-message.ts";
import { evolveModelCall } from "./evolve-model-call.ts";
import { evolveToolCall } from "./evolve-tool-call.ts";
import { evolveTurn } from "./evolve-turn.ts";
import { evolveHook } from "./hooks/evolve-hook.ts";
import { noteCall } from "./note-call.ts";
import type { SessionState, TurnState } from "./state.ts";
import { unknownEvent } from "./unknown-event.ts";

/** What is true of a session after one more event. Throws on an event that it does not know: a newer version has to serve the stream then. */
export function evolveSession(state: SessionState, event: Event): SessionState {
  const evolved = evolveKind(state, event);
  const context = contextAfter(state, event);
  return context === state.context ? evolved : { ...evolved, context };
}

function evolveKind(state: SessionState, event: Event): SessionState {
  const payload = event.payload;
  switch (payload.case) {
    case "turnOutputDelta":
    case "toolOutputDelta":
    case "userProgressReported":
    case "userStructuredReported":
      return state;
    case "sessionCreated": {
      const created = payload.value;
      const createdAtMs = occurredAtMs(event);
      return {
        ...state,
        sessionId: event.stream?.id ?? "",
        status: SessionStatus.ACTIVE,
        agent: created.agent,
        policy: created.policy,
        labels: created.labels,
        title: created.title,
        queue: created.queue,
        parent: created.parent,
        parentCall: created.parentCall,
        policyBy: event.principal?.id ?? "",
        createdAtMs,
        updatedAtMs: createdAtMs,
      };
    }
    case "sessionClosed":
      return touched({ ...withoutCompaction(state), status: SessionStatus.CLOSED }, event);
    case "sessionPolicyUpdated":
      return touched(
        { ...state, policy: payload.value.policy, policyBy: event.principal?.id ?? "", grants: payload.value.grantsRevoked ? [] : state.grants },
        event,
      );
    case "sessionForked":
      // After its creation the session holds nothing but the messages that it began with.
      return touched({ ...state, spans: [{ firstSeq: 2, lastSeq: Number(event.seq) }] }, event);
    case "messageAdded":
      return touched(evolveMessage(state, event, payload.value.message), event);
    case "turnStarted":
    case "turnSteered":
    case "turnPaused":
    case "turnContinued":
    case "turnCheckpointed":
    case "turnCancelRequested":
    case "turnCompleted":
    case "turnFailed":
    case "turnCancelled":
    case "turnAbandoned":
      return touched(evolveTurn(state, event, payload, occurredAtMs(event)), event);
    case "modelRequested":
    case "modelStarted":
    case "modelAttemptFailed":
    case "modelCompleted":
    case "modelFailed":
    case "modelCancelled":
      return touched(
        withTurn(state, event, (turn) => evolveModelCall(state, turn, event, payload)),
        event,
      );
    case "modelUsageRecorded": {
      const usage = payload.value.usage;
      const used = { ...state, usage: addUsage(state.usage, usage) };
      // Of a summary that was asked for between turns.
      if (event.turnId === "") return touched(used, event);
      return touched(
        withTurn(used, event, (turn) => ({ ...turn, usage: addUsage(turn.usage, usage) })),
        event,
      );
    }
    case "toolRequested":
    case "toolPreviewed":
    case "toolArgumentsEdited":
    case "toolRetried":
    case "toolApprovalRequired":
    case "toolDenied":
    case "toolStarted":
    case "toolCompleted":
    case "toolFailed":
    case "toolCancelled":
    case "toolSettledUnknown":
    case "approvalResolved":
    case "approvalExpired":
    case "turnInputRequested":
    case "turnInputProvided":
      return touched(noteCall(evolveToolCall(state, event, payload), event), event);
    case "toolReportedLate":
      return touched(
        { ...state, endedCalls: state.endedCalls.map((call) => (call.toolCallId === event.toolCallId ? { ...call, reportedLate: true } : call)) },
        event,
      );
    case "workspaceChangeRecorded":
    case "workspaceUndoRequested":
    case "workspaceChangeUndone":
    case "workspaceUndoFailed":
    case "sessionRewound":
      return touched(evolveChanges(state, event, payload, occurredAtMs(event)), event);
    case "sessionCompacted":
    case "sessionCompactionRequested":
    case "sessionCompactionFailed":
      return touched(evolveCompaction(state, event, payload), event);
    case "hookRequested":
    case "hookCompleted":
    case "hookFailed":
      return touched(
        withTurn(state, event, (turn) => evolveHook(state, turn, event, payload)),
        event,
      );
    case "planUpdated":
      return touched({ ...state, plan: payload.value.plan }, event);
    case "runCreated":
    case "runStarted":
    case "runCompleted":
    case "runFailed":
    case "runCancelRequested":
    case "runForked":
    case "runSignalled":
    case "runPaused":
    case "runContinued":
    case "runResumed":
    case "runDeadlinePassed":
    case "stepSkipped":
    case "stepCancelled":
    case "runCancelled":
    case "stepStarted":
    case "stepAttemptStarted":
    case "stepAttemptFailed":
    case "stepCompleted":
    case "stepFailed":
      throw unknownEvent(event, `a session has no ${payload.case}`);
    case "runQueued":
    case "concurrencyRequested":
    case "concurrencyGranted":
    case "concurrencyReleased":
    case undefined:
      throw unknownEvent(event, "this version does not know its kind");
    default:
      return payload satisfies never;
  }
}

function withTurn(state: SessionState, event: Event, change: (turn: TurnState) => TurnState): SessionState {
  if (state.turn === undefined || state.turn.end !== undefined) throw unknownEvent(event, "no turn is active");
  return { ...state, turn: change(state.turn) };
}

function touched(state: SessionState, event: Event): SessionState {
  return { ...state, updatedAtMs: occurredAtMs(event) };
}

function occurredAtMs(event: Event): number {
  return event.occurredAt === undefined ? 0 : timestampMs(event.occurredAt);
}
