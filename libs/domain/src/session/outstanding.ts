import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Task, TaskSchema } from "@forge/protocol/worker";
import type { OutstandingTask, WorkTask } from "../task.ts";
import { advanceTimerKey, approvalTimerKey, inputTimerKey, modelTaskKey, toolTaskKey, turnTimerKey } from "./keys.ts";
import { activeTurn, findTool, isStalled, type ModelCallState, type SessionState, type ToolCallState, type TurnState } from "./state.ts";

/** All that must be done in the world for a session: its model call, its dispatched tool calls, and the timers of its turn, approvals and questions. */
export function outstandingSession(state: SessionState): readonly OutstandingTask[] {
  const turn = activeTurn(state);
  if (turn === undefined) return [];
  const tasks: OutstandingTask[] = [];
  // A turn that stops has no deadline any more, and asks nobody.
  const isStopping = turn.cancel !== undefined;
  if (!isStopping) tasks.push({ kind: "timer", key: turnTimerKey(turn.turnId), dueAtMs: turn.deadlineAtMs });
  if (isStalled(turn)) tasks.push({ kind: "timer", key: advanceTimerKey(turn.turnId), dueAtMs: turn.startedAtMs });
  if (turn.modelCall?.dispatched === true) tasks.push(modelTask(state, turn, turn.modelCall));
  for (const call of turn.toolCalls) {
    if (call.dispatched) tasks.push(toolTask(state, turn, call));
    if (isStopping) continue;
    if (call.approval !== undefined) tasks.push({ kind: "timer", key: approvalTimerKey(call.approval.approvalId), dueAtMs: call.approval.expiresAtMs });
    if (call.input !== undefined) tasks.push({ kind: "timer", key: inputTimerKey(call.input.inputId), dueAtMs: call.input.expiresAtMs });
  }
  return tasks;
}

function modelTask(state: SessionState, turn: TurnState, call: ModelCallState): WorkTask {
  const model = state.agent?.model ?? "";
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
      },
    },
    idempotencyKey: call.modelCallId,
    needsStart: true,
    deadlineAt: timestampFromMs(turn.deadlineAtMs),
  });
  return workTask(state, turn, { key: modelTaskKey(call), capability: `model:${model}`, task, idempotent: true, dueAtMs: call.dueAtMs });
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
      },
    },
    idempotencyKey: call.toolCallId,
    needsStart: !idempotent,
    deadlineAt: timestampFromMs(turn.deadlineAtMs),
  });
  return workTask(state, turn, { key: toolTaskKey(call), capability: `tool:${call.tool}`, task, idempotent, dueAtMs: 0 });
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
