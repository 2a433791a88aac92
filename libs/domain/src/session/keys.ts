import type { ModelCallState, ToolCallState } from "./state.ts";

/** Keys of a session's tasks. A new attempt has a new key, so that an answer to an older one can be told from it. */

export function modelTaskKey(call: ModelCallState): string {
  return `model:${call.modelCallId}:${call.failedAttempts}`;
}

export function toolTaskKey(call: ToolCallState): string {
  const before = attemptsBefore(call);
  return before === 0 ? `tool:${call.toolCallId}` : `tool:${call.toolCallId}:${before}`;
}

/** How often a call was dispatched before: after a lost lease, a failure or a person's answer it is dispatched again. */
export function attemptsBefore({ lostLeases, failedAttempts, providedInputs }: ToolCallState): number {
  return lostLeases + failedAttempts + providedInputs.length;
}

export function previewTaskKey({ toolCallId, previewCount }: ToolCallState): string {
  return previewCount === 1 ? `preview:${toolCallId}` : `preview:${toolCallId}:${previewCount - 1}`;
}

export function undoTaskKey(undoId: string): string {
  return `undo:${undoId}`;
}

export function undoTimerKey(undoId: string): string {
  return `undo-timeout:${undoId}`;
}

/** The tool call that a key names, whatever its attempt; undefined for the key of anything else. */
export function toolCallIdOfKey(key: string): string | undefined {
  return /^tool:([^:]+)(?::\d+)?$/.exec(key)?.[1];
}

export function hookTaskKey(hookCallId: string): string {
  return `hook:${hookCallId}`;
}

/** Whether a task's key is that of a hook's call. */
export function isHookKey(key: string): boolean {
  return key.startsWith("hook:");
}

export function hookTimerKey(hookCallId: string): string {
  return `hook-timeout:${hookCallId}`;
}

export function compactionTaskKey(compactionId: string): string {
  return `compact:${compactionId}`;
}

export function compactionTimerKey(compactionId: string): string {
  return `compact-timeout:${compactionId}`;
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
