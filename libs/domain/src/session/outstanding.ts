import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Task, TaskSchema } from "@forge/protocol/worker";
import type { OutstandingTask, WorkTask } from "../task.ts";
import {
  advanceTimerKey,
  approvalTimerKey,
  inputTimerKey,
  modelTaskKey,
  previewTaskKey,
  toolTaskKey,
  turnTimerKey,
  undoTaskKey,
  undoTimerKey,
} from "./keys.ts";
import { compactionTasks, hookTasks } from "./loop-tasks.ts";
import { activeTurn, findTool, isStalled, type ModelCallState, type SessionState, type ToolCallState, type TurnState, type UndoState } from "./state.ts";

/** All that must be done in the world for a session: its model call, its dispatched tool calls, its hook, its summary, and the timers of its turn, approvals and questions. */
export function outstandingSession(state: SessionState): readonly OutstandingTask[] {
  const tasks: OutstandingTask[] = state.undo === undefined ? [] : undoTasks(state, state.undo);
  const turn = activeTurn(state);
  if (state.compacting !== undefined) tasks.push(...compactionTasks(state, state.compacting, turn));
  if (turn === undefined) return tasks;
  // A turn that stops has no deadline any more, and asks nobody.
  const isStopping = turn.cancel !== undefined;
  if (!isStopping) tasks.push({ kind: "timer", key: turnTimerKey(turn.turnId), dueAtMs: turn.deadlineAtMs });
  if (isStalled(turn)) tasks.push({ kind: "timer", key: advanceTimerKey(turn.turnId), dueAtMs: turn.startedAtMs });
  if (turn.modelCall?.dispatched === true) tasks.push(modelTask(state, turn, turn.modelCall));
  if (turn.hooks.call !== undefined) tasks.push(...hookTasks(state, turn, turn.hooks.call));
  for (const call of turn.toolCalls) {
    if (call.previewing?.dispatched === true) tasks.push(previewTask(state, turn, call));
    // A sub-agent's session does what there is to do.
    if (call.dispatched && !call.isChild) tasks.push(toolTask(state, turn, call));
    if (isStopping) continue;
    if (call.approval !== undefined) tasks.push({ kind: "timer", key: approvalTimerKey(call.approval.approvalId), dueAtMs: call.approval.expiresAtMs });
    if (call.input !== undefined) tasks.push({ kind: "timer", key: inputTimerKey(call.input.inputId), dueAtMs: call.input.expiresAtMs });
  }
  return tasks;
}

function modelTask(state: SessionState, turn: TurnState, call: ModelCallState): WorkTask {
  const { model } = call;
  const task = create(TaskSchema, {
    kind: {
      case: "model",
      value: {
        sessionId: state.sessionId,
        turnId: turn.turnId,
        modelCallId: call.modelCallId,
        model,
        temperature: state.agent?.temperature,
        maxOutputTokens: state.agent?.maxOutputTokens,
        conversationThroughSeq: call.conversationThroughSeq,
        failedAttempts: call.failedAttempts,
        outputSchemaJson: state.agent?.outputSchemaJson,
      },
    },
    idempotencyKey: call.modelCallId,
    needsStart: true,
    deadlineAt: timestampFromMs(turn.deadlineAtMs),
  });
  return workTask(state, turn, { key: modelTaskKey(call), capability: `model:${model}`, task, idempotent: true, dueAtMs: call.dueAtMs });
}

/** Long enough for a worker that starts again, and no longer than a person waits. */
const UNDO_MS_MAX = 10 * 60_000;

function undoTasks(state: SessionState, undo: UndoState): OutstandingTask[] {
  const { undoId, changeIds, rewindThroughSeq, requestedAtMs } = undo;
  const dueAtMs = requestedAtMs + UNDO_MS_MAX;
  const task = create(TaskSchema, {
    kind: { case: "undo", value: { sessionId: state.sessionId, undoId, changeIds: [...changeIds], allOrNothing: rewindThroughSeq > 0 } },
    idempotencyKey: undoId,
    deadlineAt: timestampFromMs(dueAtMs),
  });
  return [
    {
      kind: "work",
      key: undoTaskKey(undoId),
      queue: state.queue,
      capability: "workspace:undo",
      task,
      idempotent: true,
      dueAtMs: 0,
      cancelRequested: false,
    },
    { kind: "timer", key: undoTimerKey(undoId), dueAtMs },
  ];
}

/** Asks the worker that would execute the call what it would do. Nothing comes of it in the world, so it may be asked again, and needs no start. */
function previewTask(state: SessionState, turn: TurnState, call: ToolCallState): WorkTask {
  const { toolCallId, tool, argumentsJson, decision, mode } = call;
  const key = previewTaskKey(call);
  const task = create(TaskSchema, {
    kind: {
      case: "tool",
      value: { toolCallId, tool, argumentsJson, sessionId: state.sessionId, turnId: turn.turnId, decision, preview: true, mode },
    },
    idempotencyKey: key,
    deadlineAt: timestampFromMs(turn.deadlineAtMs),
  });
  return workTask(state, turn, { key, capability: `tool:${tool}`, task, idempotent: true, dueAtMs: 0 });
}

function toolTask(state: SessionState, turn: TurnState, call: ToolCallState): WorkTask {
  const idempotent = findTool(turn, call.tool)?.idempotent === true;
  const task = create(TaskSchema, {
    kind: {
      case: "tool",
      value: {
        toolCallId: call.toolCallId,
        tool: call.tool,
        argumentsJson: call.argumentsJson,
        sessionId: state.sessionId,
        turnId: turn.turnId,
        decision: call.decision,
        previewed: call.previewed,
        providedInputs: [...call.providedInputs],
        resumeJson: call.resumeJson,
        mode: call.mode,
      },
    },
    idempotencyKey: call.toolCallId,
    needsStart: !idempotent,
    deadlineAt: timestampFromMs(turn.deadlineAtMs),
  });
  return workTask(state, turn, { key: toolTaskKey(call), capability: `tool:${call.tool}`, task, idempotent, dueAtMs: call.dueAtMs });
}

interface Work {
  readonly key: string;
  readonly capability: string;
  readonly task: Task;
  readonly idempotent: boolean;
  readonly dueAtMs: number;
}

function workTask(state: SessionState, turn: TurnState, work: Work): WorkTask {
  return { kind: "work", queue: state.queue, cancelRequested: turn.cancel !== undefined, ...work };
}
