import { create } from "@bufbuild/protobuf";
import { StreamKind, type Value, ValueSchema } from "@forge/protocol/common";
import { type OutgoingCommand, OutgoingCommandSchema, type ReportTurnEnd, ReportTurnEndSchema } from "@forge/protocol/engine";
import type { Event } from "@forge/protocol/event";
import type { AnswerState, SessionState } from "./state.ts";

/** A turn's end is reported to the step that the session works for. The command's id derives from the event, so that it is the same however often. */
export function sessionCommands(state: SessionState, event: Event): readonly OutgoingCommand[] {
  const { parent, turn } = state;
  switch (event.payload.case) {
    case "turnCompleted":
    case "turnFailed":
    case "turnCancelled":
    case "turnAbandoned":
      break;
    default:
      return [];
  }
  if (parent === undefined || turn?.end === undefined) return [];
  const report: ReportTurnEnd = create(ReportTurnEndSchema, {
    stepId: parent.stepId,
    sessionId: state.sessionId,
    turnId: turn.turnId,
    status: turn.end.status,
    outcome: turn.end.outcome,
    text: answerValue(turn.answer),
    usage: turn.usage,
    error: turn.end.error,
  });
  return [
    create(OutgoingCommandSchema, {
      source: { kind: StreamKind.SESSION, id: state.sessionId },
      target: { kind: StreamKind.RUN, id: parent.runId },
      commandId: `${state.sessionId}:${event.seq}:0`,
      command: { case: "reportTurnEnd", value: report },
    }),
  ];
}

function answerValue(answer: AnswerState | undefined): Value {
  if (answer?.artifact !== undefined) return create(ValueSchema, { kind: { case: "artifact", value: answer.artifact } });
  return create(ValueSchema, { kind: { case: "json", value: JSON.stringify(answer?.text ?? "") } });
}
