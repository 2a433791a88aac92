import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, ForgeErrorSchema, type Value, ValueSchema } from "@forge/protocol/common";
import {
  ToolCancelledSchema,
  ToolCompletedSchema,
  ToolFailedSchema,
  ToolRequestedSchema,
  ToolSettledUnknownSchema,
  ToolStartedSchema,
} from "@forge/protocol/event";
import type { Rejected } from "../decider.ts";
import type { TaskSettled, TaskStarted } from "../task.ts";
import { utf8Length } from "../text.ts";
import { boundedError } from "./bounded-error.ts";
import { changesProblem, recordChanges } from "./changes.ts";
import { failToolCall } from "./fail-tool-call.ts";
import { askToGoOn } from "./input.ts";
import { conflict, invalid } from "./rejections.ts";
import { LOST_LEASES_MAX } from "./retry.ts";
import type { SessionRecorder } from "./session-command.ts";
import { mayNotStart } from "./start-refusal.ts";
import { findTool, type ToolCallState, type TurnState } from "./state.ts";

const VALUE_BYTES_MAX = 65_536;

export function startToolCall(recorder: SessionRecorder, turn: TurnState, call: ToolCallState, command: TaskStarted): Rejected | undefined {
  const refused = mayNotStart(turn, call.started, command.key);
  if (refused !== undefined) return refused;
  if (command.start.case === "model") return invalid("start", "A tool call was started as a model call.");
  const value = create(ToolStartedSchema, { worker: command.worker, epoch: command.epoch });
  recorder.record({ ...idsOf(turn, call), payload: { case: "toolStarted", value } });
  return undefined;
}

export function settleToolCall(recorder: SessionRecorder, turn: TurnState, call: ToolCallState, command: TaskSettled): Rejected | undefined {
  const { outcome } = command;
  const ids = idsOf(turn, call);
  const wrong = changesProblem(outcome);
  if (wrong !== undefined) return wrong;
  switch (outcome.case) {
    case "tool": {
      if (!call.started && !isIdempotent(turn, call)) {
        return conflict("TASK_NOT_STARTED", `Task ${command.key} was settled without its start having been recorded.`, [], { key: command.key });
      }
      recordChanges(recorder, ids, call.tool, outcome);
      const { durationMs, breakTurn } = outcome.value;
      const output = outcome.value.output ?? create(ValueSchema, { kind: { case: "json", value: "null" } });
      const unkept = outputError(call, output);
      if (unkept === undefined) {
        const value = create(ToolCompletedSchema, { output, durationMs, breakTurn });
        recorder.record({ ...ids, payload: { case: "toolCompleted", value }, sensitive: true });
      } else {
        recorder.record({ ...ids, payload: { case: "toolFailed", value: create(ToolFailedSchema, { error: unkept, durationMs }) }, sensitive: true });
      }
      return undefined;
    }
    case "failure": {
      recordChanges(recorder, ids, call.tool, outcome);
      const error = boundedError(outcome.value.error);
      if (outcome.value.unknown) settleUnknown(recorder, ids, error.message);
      else failToolCall(recorder, turn, call, error, outcome.value.durationMs);
      return undefined;
    }
    case "inputRequired":
      if (!call.started && !isIdempotent(turn, call)) {
        return conflict("TASK_NOT_STARTED", `Task ${command.key} was settled without its start having been recorded.`, [], { key: command.key });
      }
      return askToGoOn(recorder, turn, call, outcome.value);
    case "cancelled": {
      recordChanges(recorder, ids, call.tool, outcome);
      const reason = turn.cancel === undefined ? `Worker ${command.worker} stopped the call unasked.` : "The turn was asked to stop.";
      recorder.record({ ...ids, payload: { case: "toolCancelled", value: create(ToolCancelledSchema, { reason }) } });
      return undefined;
    }
    case "model":
    case "function":
    case "preview":
    case "hook":
    case "compaction":
    case "undo":
    case undefined:
      return invalid("settlement", "A tool call is settled by a tool's result, a failure or a cancellation.");
    default:
      return outcome satisfies never;
  }
}

/** Only what had started and is not idempotent may have had an effect that nobody can tell of; an idempotent call is dispatched again, within bounds. */
export function loseToolCall(recorder: SessionRecorder, turn: TurnState, call: ToolCallState): void {
  const ids = idsOf(turn, call);
  if (turn.cancel !== undefined && !call.started) {
    recorder.record({ ...ids, payload: { case: "toolCancelled", value: create(ToolCancelledSchema, { reason: "The call had not begun." }) } });
    return;
  }
  if (call.started && (turn.cancel !== undefined || !isIdempotent(turn, call))) {
    settleUnknown(recorder, ids, "The worker was lost during the call; what the call did is unknown.");
    return;
  }
  if (call.started && call.lostLeases + 1 < LOST_LEASES_MAX) {
    const { tool, argumentsJson, providerCallId, decision } = call;
    const value = create(ToolRequestedSchema, { tool, argumentsJson, providerCallId, decision });
    recorder.record({ ...ids, payload: { case: "toolRequested", value }, sensitive: true });
    return;
  }
  const error = create(ForgeErrorSchema, {
    code: ErrorCode.WORKER_LOST,
    reason: "WORKER_LOST",
    message: call.started
      ? `${LOST_LEASES_MAX} workers were lost during the call; it is not tried again.`
      : "Workers were lost too often before the call began; it was not executed.",
    origin: "control-plane",
    relatedIds: [call.toolCallId],
  });
  recorder.record({ ...ids, payload: { case: "toolFailed", value: create(ToolFailedSchema, { error }) }, sensitive: true });
}

function settleUnknown(recorder: SessionRecorder, ids: { turnId: string; toolCallId: string }, reason: string): void {
  recorder.record({ ...ids, payload: { case: "toolSettledUnknown", value: create(ToolSettledUnknownSchema, { reason }) }, sensitive: true });
}

/** What keeps an output from being recorded: the call has ended then too, so that it fails instead of being refused. */
function outputError(call: ToolCallState, output: Value): ForgeError | undefined {
  const error = (reason: string, message: string) =>
    create(ForgeErrorSchema, { code: ErrorCode.VALIDATION, reason, message, origin: "control-plane", relatedIds: [call.toolCallId] });
  switch (output.kind.case) {
    case "json":
      if (utf8Length(output.kind.value) > VALUE_BYTES_MAX) {
        return error("OUTPUT_TOO_LARGE", "The call completed, but its output is longer than 64 KiB and was not stored as an artifact, so it is lost.");
      }
      if (!output.kind.value.isWellFormed()) return error("OUTPUT_INVALID", "The call completed, but its output is not text that can be kept.");
      return undefined;
    case "artifact":
      return undefined;
    case undefined:
      return error("OUTPUT_INVALID", "The call completed, but its output is neither JSON nor an artifact.");
    default:
      return output.kind satisfies never;
  }
}

function isIdempotent(turn: TurnState, call: ToolCallState): boolean {
  return findTool(turn, call.tool)?.idempotent === true;
}

function idsOf(turn: TurnState, call: ToolCallState): { turnId: string; toolCallId: string } {
  return { turnId: turn.turnId, toolCallId: call.toolCallId };
}
