import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, ForgeErrorSchema, ValueSchema } from "@forge/protocol/common";
import type { RejectCommand, ReportTurnEnd } from "@forge/protocol/engine";
import { ModelUsageRecordedSchema, ToolCancelledSchema, ToolCompletedSchema, ToolSettledUnknownSchema } from "@forge/protocol/event";
import { TurnOutcome, TurnOutcomeSchema, TurnStatus, TurnStatusSchema } from "@forge/protocol/session";
import type { Rejected } from "../../decider.ts";
import { boundedError } from "../bounded-error.ts";
import { failToolCall } from "../fail-tool-call.ts";
import { invalid, taskNotOpen } from "../rejections.ts";
import type { SessionRecorder } from "../session-command.ts";
import { activeTurn, type ToolCallState, type TurnState } from "../state.ts";
import { childCommandId } from "./child-commands.ts";
import { subAgentOf } from "./sub-agent.ts";

/** What a call of a sub-agent hears of the session that works for it. */

/** The sub-agent's turn has ended: its answer is the call's output, and what it used counts as the caller's. */
export function endChild(recorder: SessionRecorder, report: ReportTurnEnd): Rejected | undefined {
  const open = openChild(recorder, report.toolCallId);
  // Whatever a person asks of the session later is not the call's any more.
  if (open === undefined || report.sessionId !== report.toolCallId) return taskNotOpen(`sub-agent:${report.toolCallId}`);
  const { turn, call } = open;
  const ids = { turnId: turn.turnId, toolCallId: call.toolCallId };
  if (report.usage !== undefined) {
    const model = subAgentOf(recorder.state.agent, call.tool)?.agent?.model ?? "";
    recorder.record({ ...ids, payload: { case: "modelUsageRecorded", value: create(ModelUsageRecordedSchema, { model, usage: report.usage }) } });
  }
  if (report.status === TurnStatus.COMPLETED && report.outcome === TurnOutcome.TASK_COMPLETED) {
    const output = report.text ?? create(ValueSchema, { kind: { case: "json", value: '""' } });
    recorder.record({ ...ids, payload: { case: "toolCompleted", value: create(ToolCompletedSchema, { output }) }, sensitive: true });
  } else if (report.status === TurnStatus.CANCELLED && turn.cancel !== undefined) {
    const value = create(ToolCancelledSchema, { reason: "The turn was asked to stop." });
    recorder.record({ ...ids, payload: { case: "toolCancelled", value } });
  } else if (report.status === TurnStatus.ABANDONED) {
    const value = create(ToolSettledUnknownSchema, { reason: "The sub-agent's turn was abandoned; what it did is unknown." });
    recorder.record({ ...ids, payload: { case: "toolSettledUnknown", value }, sensitive: true });
  } else {
    failToolCall(recorder, turn, call, endError(report), 0n);
  }
  return undefined;
}

/** The sub-agent's session could not be created, or its turn not be started. A refused cancel changes nothing: the turn's end is on its way. */
export function refuseChild(recorder: SessionRecorder, { commandId, error }: RejectCommand): Rejected | undefined {
  const turn = activeTurn(recorder.state);
  const call = turn?.toolCalls.find(
    ({ toolCallId, isChild, started }) =>
      isChild && started && (commandId === childCommandId(toolCallId, "create") || commandId === childCommandId(toolCallId, "turn")),
  );
  // A report of a turn's end that was refused: the end stands, whether or not somebody still wants to know.
  if (turn === undefined || call === undefined) return invalid("command", "The session has nothing to decide when this command was refused.");
  failToolCall(recorder, turn, call, boundedError(error), 0n);
  return undefined;
}

function openChild(recorder: SessionRecorder, toolCallId: string): { readonly turn: TurnState; readonly call: ToolCallState } | undefined {
  const turn = activeTurn(recorder.state);
  const call = turn?.toolCalls.find((open) => open.isChild && open.started && open.toolCallId === toolCallId);
  return turn === undefined || call === undefined ? undefined : { turn, call };
}

/** The model is told how the sub-agent's turn ended, in the word that its session has for it, and by what, if by an error. */
function endError({ outcome, status, sessionId, error }: ReportTurnEnd): ForgeError {
  const name =
    outcome === TurnOutcome.UNSPECIFIED
      ? (TurnStatusSchema.value[status]?.name ?? "").replace("TURN_STATUS_", "")
      : (TurnOutcomeSchema.value[outcome]?.name ?? "").replace("TURN_OUTCOME_", "");
  const why = error === undefined ? "" : `: ${error.message}`;
  return boundedError(
    create(ForgeErrorSchema, {
      code: error?.code ?? ErrorCode.INTERNAL,
      reason: "SUB_AGENT_FAILED",
      message: `The sub-agent did not finish its task, its turn ended as ${name}${why}`,
      origin: "control-plane",
      relatedIds: [sessionId],
      metadata: { outcome: name, ...(error?.reason ? { cause: error.reason } : {}) },
    }),
  );
}
