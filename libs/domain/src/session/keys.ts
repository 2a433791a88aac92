import type { ModelCallState, ToolCallState } from "./state.ts";

/** Keys of a session's tasks. A new attempt has a new key, so that an answer to an older one can be told from it. */

export function modelTaskKey(call: ModelCallState): string {
  return `model:${call.modelCallId}:${call.failedAttempts}`;
}

export function toolTaskKey(call: ToolCallState): string {
  return call.lostLeases === 0 ? `tool:${call.toolCallId}` : `tool:${call.toolCallId}:${call.lostLeases}`;
}

/** The tool call that a key names, whatever its attempt; undefined for the key of anything else. */
export function toolCallIdOfKey(key: string): string | undefined {
  return /^tool:([^:]+)(?::\d+)?$/.exec(key)?.[1];
}

export function turnTimerKey(turnId: string): string {
  return `turn:${turnId}`;
}

export function advanceTimerKey(turnId: string): string {
  return `advance:${turnId}`;
}

export function inputTimerKey(inputId: string): string {
  return `input:${inputId}`;
}

export function approvalTimerKey(approvalId: string): string {
  return `approval:${approvalId}`;
}
