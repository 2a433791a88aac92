import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { StreamKind, type Value, ValueSchema } from "@forge/protocol/common";
import { type OutgoingCommand, OutgoingCommandSchema, type ReportTurnEnd, ReportTurnEndSchema } from "@forge/protocol/engine";
import type { Event } from "@forge/protocol/event";
import type { AnswerState, SessionState, ToolCallState } from "./state.ts";
import { cancelChild, startChild, updateChildPolicy } from "./sub-agents/child-commands.ts";

/**
 * What a session asks of others: a sub-agent's session is created and its turn started when the call starts, gets its caller's new policy, and is cancelled with the caller's turn. A turn's end
 * is reported to the step, or the call, that the session works for. Commands derive their ids from what causes them, so that they are the same however often.
 */
export function sessionCommands(state: SessionState, event: Event): readonly OutgoingCommand[] {
  const { turn } = state;
  switch (event.payload.case) {
    case "toolStarted": {
      const call = turn?.toolCalls.find(({ toolCallId }) => toolCallId === event.toolCallId);
      if (turn === undefined || call?.isChild !== true) return [];
      return startChild(state, turn, call, event.occurredAt === undefined ? 0 : timestampMs(event.occurredAt));
    }
    case "turnCancelRequested":
      return openChildren(state).map(({ toolCallId }) => cancelChild(state, toolCallId));
    case "sessionPolicyUpdated": {
      const { grantsRevoked } = event.payload.value;
      return openChildren(state).map((call) => updateChildPolicy(state, call, { seq: event.seq, revokesGrants: grantsRevoked }));
    }
    case "toolSettledUnknown": {
      // Whoever gives a turn up gives its sub-agents up as well.
      const ended = state.endedCalls.find(({ toolCallId }) => toolCallId === event.toolCallId);
      return ended?.isChild === true ? [cancelChild(state, event.toolCallId)] : [];
    }
    case "turnCompleted":
    case "turnFailed":
    case "turnCancelled":
    case "turnAbandoned":
      return reportEnd(state, event);
    default:
      return [];
  }
}

/** Calls whose sub-agents work. */
function openChildren({ turn }: SessionState): readonly ToolCallState[] {
  return (turn?.toolCalls ?? []).filter(({ isChild, started }) => isChild && started);
}

function reportEnd(state: SessionState, event: Event): OutgoingCommand[] {
  const { parent, parentCall, turn, sessionId } = state;
  if (turn?.end === undefined) return [];
  const report: ReportTurnEnd = create(ReportTurnEndSchema, {
    stepId: parent?.stepId,
    toolCallId: parentCall?.toolCallId,
    sessionId,
    turnId: turn.turnId,
    status: turn.end.status,
    outcome: turn.end.outcome,
    text: answerValue(turn.answer),
    usage: turn.usage,
    error: turn.end.error,
  });
  const target = parent === undefined ? { kind: StreamKind.SESSION, id: parentCall?.sessionId } : { kind: StreamKind.RUN, id: parent.runId };
  if (target.id === undefined) return [];
  return [
    create(OutgoingCommandSchema, {
      source: { kind: StreamKind.SESSION, id: sessionId },
      target,
      commandId: `${sessionId}:${event.seq}:0`,
      command: { case: "reportTurnEnd", value: report },
    }),
  ];
}

function answerValue(answer: AnswerState | undefined): Value {
  if (answer?.artifact !== undefined) return create(ValueSchema, { kind: { case: "artifact", value: answer.artifact } });
  return create(ValueSchema, { kind: { case: "json", value: JSON.stringify(answer?.text ?? "") } });
}
