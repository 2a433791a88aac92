import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ForgeError } from "@forge/protocol/common";
import { ToolFailedSchema, ToolRetriedSchema, TurnInputRequestedSchema } from "@forge/protocol/event";
import { ErrorRecovery } from "@forge/protocol/session";
import { shorten } from "../text.ts";
import { approvalTtlMs } from "../tool-policy.ts";
import { isStale } from "./is-stale.ts";
import { retryDelayMs } from "./retry.ts";
import type { SessionRecorder } from "./session-command.ts";
import { findTool, type SessionState, type ToolCallState, type TurnState } from "./state.ts";

const RETRIES_MAX = 2;
const QUESTION_MAX = 4_096;
/** Times that one call is looked at; more is a file that never stands still. */
const PREVIEWS_MAX = 4;

/** A call that was executed and failed: made again, asked about, or ended, as the agent's recovery says. What follows from a stop is decided once all is recorded. */
export function failToolCall(recorder: SessionRecorder, turn: TurnState, call: ToolCallState, error: ForgeError, durationMs: bigint): void {
  const { state, context } = recorder;
  const ids = { turnId: turn.turnId, toolCallId: call.toolCallId };
  if (turn.cancel === undefined && isToBeLookedAtAgain(state, call, error)) {
    const value = create(ToolRetriedSchema, { error, attempt: call.failedAttempts + 1, nextAttemptAt: timestampFromMs(context.nowMs) });
    recorder.record({ ...ids, payload: { case: "toolRetried", value }, sensitive: true });
    return;
  }
  const recovery = turn.cancel === undefined ? state.agent?.errorRecovery : undefined;
  if (recovery === ErrorRecovery.RETRY && findTool(turn, call.tool)?.idempotent === true && call.failedAttempts < RETRIES_MAX && !isStale(error)) {
    const attempt = call.failedAttempts + 1;
    const nextAttemptAtMs = context.nowMs + retryDelayMs(context, call.toolCallId, attempt, error);
    // An attempt after the turn's deadline would only keep the model from being told.
    if (nextAttemptAtMs < turn.deadlineAtMs) {
      const value = create(ToolRetriedSchema, { error, attempt, nextAttemptAt: timestampFromMs(nextAttemptAtMs) });
      recorder.record({ ...ids, payload: { case: "toolRetried", value }, sensitive: true });
      return;
    }
  }
  if (recovery === ErrorRecovery.ASK) {
    const value = create(TurnInputRequestedSchema, {
      inputId: context.newId(),
      question: shorten(`The call of ${call.tool} failed: ${error.message} What is to come of it?`, QUESTION_MAX),
      expiresAt: timestampFromMs(context.nowMs + approvalTtlMs(state.policy)),
      error,
    });
    recorder.record({ ...ids, payload: { case: "turnInputRequested", value }, sensitive: true });
    return;
  }
  recorder.record({ ...ids, payload: { case: "toolFailed", value: create(ToolFailedSchema, { error, durationMs }) }, sensitive: true });
}

/**
 * Whether a stale call is previewed and decided on once more: where a call of the session itself changed files since, as patches of one answer to one file do,
 * or where no person looked at it. What a person allowed and somebody else made stale fails, and the model is told.
 */
function isToBeLookedAtAgain(state: SessionState, call: ToolCallState, error: ForgeError): boolean {
  if (!isStale(error) || call.previewed === undefined || call.previewCount >= PREVIEWS_MAX) return false;
  return state.changesSeq > call.previewedSeq || !call.decision.source.startsWith("approval:");
}
