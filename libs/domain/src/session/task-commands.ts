import { create } from "@bufbuild/protobuf";
import { ToolReportedLateSchema } from "@forge/protocol/event";
import type { Rejected } from "../decider.ts";
import type { TaskCommand, TaskReportedLate, TimerFired } from "../task.ts";
import { shorten } from "../text.ts";
import { expireApproval } from "./approval.ts";
import { changesProblem, recordChanges } from "./changes.ts";
import { applyCompactionTask, expireCompaction } from "./compaction/settle-compaction.ts";
import { applyHookTask, expireHook } from "./hooks/settle-hook.ts";
import { expireInput } from "./input.ts";
import {
  advanceTimerKey,
  approvalTimerKey,
  compactionTaskKey,
  compactionTimerKey,
  hookTaskKey,
  hookTimerKey,
  inputTimerKey,
  modelTaskKey,
  previewTaskKey,
  toolCallIdOfKey,
  toolTaskKey,
  turnTimerKey,
} from "./keys.ts";
import { applyPreviewCommand } from "./preview.ts";
import { conflict, notFound, taskNotOpen } from "./rejections.ts";
import type { SessionRecorder } from "./session-command.ts";
import { loseModelCall, settleModelCall, startModelCall } from "./settle-model-call.ts";
import { loseToolCall, settleToolCall, startToolCall } from "./settle-tool-call.ts";
import { activeTurn, isStalled } from "./state.ts";
import { cancelUndispatched, reachDeadline } from "./stop-turn.ts";
import { applyUndoCommand, isOfUndo } from "./undo.ts";

const PREVIEW_MAX = 256;

/** What became of a task. A key that is no longer outstanding is refused, so that nothing counts twice. */
export function applyTaskCommand(recorder: SessionRecorder, command: TaskCommand): Rejected | undefined {
  const { undo } = recorder.state;
  if (undo !== undefined && isOfUndo(undo, command.key)) return applyUndoCommand(recorder, undo, command);
  if (command.$typeName === "task.reported_late") return reportLate(recorder, command);
  if (command.$typeName === "timer.fired") return fireTimer(recorder, command);
  const { compacting } = recorder.state;
  if (compacting !== undefined && compactionTaskKey(compacting.compactionId) === command.key) return applyCompactionTask(recorder, compacting, command);
  const turn = activeTurn(recorder.state);
  if (turn === undefined) return taskNotOpen(command.key);
  const hookCall = turn.hooks.call;
  if (hookCall !== undefined && hookTaskKey(hookCall.hookCallId) === command.key) return applyHookTask(recorder, turn, hookCall, command);
  const modelCall = turn.modelCall;
  // A call that a pause holds back has no task, though its key is known.
  if (modelCall?.dispatched === true && modelTaskKey(modelCall) === command.key) {
    switch (command.$typeName) {
      case "task.started":
        return startModelCall(recorder, turn, modelCall, command);
      case "task.settled":
        return settleModelCall(recorder, turn, modelCall, command);
      case "task.lost":
        loseModelCall(recorder, turn, modelCall);
        return undefined;
      default:
        return command satisfies never;
    }
  }
  const previewing = turn.toolCalls.find((call) => call.previewing?.dispatched === true && previewTaskKey(call) === command.key);
  if (previewing !== undefined) return applyPreviewCommand(recorder, turn, previewing, command);
  const toolCall = turn.toolCalls.find((call) => call.dispatched && !call.isChild && toolTaskKey(call) === command.key);
  if (toolCall === undefined) return taskNotOpen(command.key);
  switch (command.$typeName) {
    case "task.started":
      return startToolCall(recorder, turn, toolCall, command);
    case "task.settled":
      return settleToolCall(recorder, turn, toolCall, command);
    case "task.lost":
      loseToolCall(recorder, turn, toolCall);
      return undefined;
    default:
      return command satisfies never;
  }
}

function fireTimer(recorder: SessionRecorder, command: TimerFired): Rejected | undefined {
  const { compacting } = recorder.state;
  if (compacting !== undefined && compactionTimerKey(compacting.compactionId) === command.key) {
    expireCompaction(recorder, compacting);
    return undefined;
  }
  const turn = activeTurn(recorder.state);
  if (turn === undefined) return taskNotOpen(command.key);
  if (command.key === advanceTimerKey(turn.turnId) && isStalled(turn)) {
    cancelUndispatched(recorder, turn, "The call was never dispatched.");
    return undefined;
  }
  if (turn.cancel !== undefined) return taskNotOpen(command.key);
  if (command.key === turnTimerKey(turn.turnId)) {
    reachDeadline(recorder, turn);
    return undefined;
  }
  const hookCall = turn.hooks.call;
  if (hookCall !== undefined && hookTimerKey(hookCall.hookCallId) === command.key) {
    expireHook(recorder, turn, hookCall);
    return undefined;
  }
  for (const call of turn.toolCalls) {
    if (call.approval === undefined || approvalTimerKey(call.approval.approvalId) !== command.key) continue;
    expireApproval(recorder, turn, call, call.approval.approvalId);
    return undefined;
  }
  const asked = turn.toolCalls.find((call) => call.input !== undefined && inputTimerKey(call.input.inputId) === command.key);
  if (asked !== undefined) {
    expireInput(recorder, turn, asked);
    return undefined;
  }
  return taskNotOpen(command.key);
}

/** An answer after the call's end is noted once, for the model to know; of a model call, or of a call long gone, there is nobody to tell. */
function reportLate(recorder: SessionRecorder, command: TaskReportedLate): Rejected | undefined {
  const { key, outcome, worker } = command;
  const toolCallId = toolCallIdOfKey(key);
  const call = recorder.state.endedCalls.find((ended) => ended.toolCallId === toolCallId);
  if (call === undefined) return notFound("TASK_NOT_FOUND", `Task ${key} is not that of a tool call that ended recently; nothing was recorded.`);
  if (call.reportedLate) return conflict("TASK_REPORTED_LATE", `A late answer to task ${key} is recorded already.`, [call.toolCallId], { key });
  const wrong = changesProblem(outcome);
  if (wrong !== undefined) return wrong;
  const said = lateOutcome(outcome);
  const value = create(ToolReportedLateSchema, { worker, outcome: said.outcome, preview: shorten(said.preview.toWellFormed(), PREVIEW_MAX) });
  recorder.record({ turnId: call.turnId, toolCallId: call.toolCallId, payload: { case: "toolReportedLate", value }, sensitive: true });
  // Files have changed, however late somebody says so.
  recordChanges(recorder, { turnId: call.turnId, toolCallId: call.toolCallId }, call.tool, outcome);
  return undefined;
}

function lateOutcome(outcome: TaskReportedLate["outcome"]): { readonly outcome: string; readonly preview: string } {
  switch (outcome.case) {
    case "tool": {
      const output = outcome.value.output?.kind;
      return { outcome: "completed", preview: output?.case === "json" ? output.value : (output?.value?.preview ?? "") };
    }
    case "failure":
      return { outcome: "failed", preview: outcome.value.error?.message ?? "" };
    case "cancelled":
      return { outcome: "cancelled", preview: "" };
    case "model":
    case "function":
    case "preview":
    case "inputRequired":
    case "hook":
    case "compaction":
    case "undo":
    case undefined:
      return { outcome: "completed", preview: "" };
    default:
      return outcome satisfies never;
  }
}
