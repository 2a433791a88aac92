import type { Event, ToolRequested } from "@forge/protocol/event";
import { executionAwaiting } from "./executions.ts";
import { stepTaskKey } from "./keys.ts";
import { ENDED_CALLS_MAX } from "./limits.ts";
import { changed, replaced } from "./open-executions.ts";
import type { Execution, RunState } from "./state.ts";

export function toolRequested(state: RunState, payload: ToolRequested, event: Event): RunState {
  const { decision } = payload;
  if (decision === undefined) throw new Error(`tool call ${event.toolCallId} was requested without a decision`);
  return changed(state, event, payload.executionIndex, (execution) => ({
    ...execution,
    isIdempotentTool: payload.idempotent,
    call: { toolCallId: event.toolCallId, argumentsJson: payload.argumentsJson, decision },
  }));
}

export function calling(state: RunState, event: Event): Execution {
  const execution = executionAwaiting(state.executions, "call", event.toolCallId);
  if (execution === undefined) throw new Error(`run ${state.runId} has no open tool call ${event.toolCallId}`);
  return execution;
}

export function callEnded(state: RunState, event: Event): RunState {
  const execution = calling(state, event);
  const over = { key: stepTaskKey(execution), stepId: execution.stepId, toolCallId: event.toolCallId };
  const after = replaced(state, execution, (each) => ({ ...each, call: undefined }));
  return { ...after, endedCalls: [...state.endedCalls, over].slice(-ENDED_CALLS_MAX) };
}
