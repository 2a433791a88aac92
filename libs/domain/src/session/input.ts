import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode, ForgeErrorSchema, ValueSchema } from "@forge/protocol/common";
import { CheckpointKind, ToolCompletedSchema, ToolFailedSchema, TurnInputProvidedSchema, TurnInputRequestedSchema } from "@forge/protocol/event";
import { type ProvideInputRequest, ProvideInputResponseSchema, SessionStatus } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { isStorable, utf8Length } from "../text.ts";
import { approvalTtlMs } from "../tool-policy.ts";
import { ASK_TOOL, questionOf } from "./ask-tool.ts";
import { checkpoint } from "./checkpoint.ts";
import { namedTurn } from "./named-turn.ts";
import { conflict, invalid, sessionMissing } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import type { ToolCallState, TurnState } from "./state.ts";

/** What one Value holds inline, in bytes: the answer is the call's output. */
const VALUE_BYTES_MAX = 65_536;

/** A call that only a person can answer, once it was granted: it is asked at once, and holds nobody back. Does nothing for any other call. */
export function askPerson(recorder: SessionRecorder, ids: { readonly turnId: string; readonly toolCallId: string }, tool: string, argumentsJson: string): void {
  if (tool !== ASK_TOOL.name) return;
  const { context, state } = recorder;
  const value = create(TurnInputRequestedSchema, {
    inputId: context.newId(),
    question: questionOf(argumentsJson),
    expiresAt: timestampFromMs(context.nowMs + approvalTtlMs(state.policy)),
  });
  recorder.record({ ...ids, payload: { case: "turnInputRequested", value }, sensitive: true });
}

/** A person's answer. The first one wins; a later one is told who was faster. */
export function provideInput(recorder: SessionRecorder, request: ProvideInputRequest): SessionResult | Rejected {
  const { state, context } = recorder;
  const { inputId, text } = request;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (text === "" || !isStorable(text)) return invalid("text", "An answer has at least one character, no NUL and no half of a surrogate pair.");
  const json = JSON.stringify(text);
  if (utf8Length(json) > VALUE_BYTES_MAX) return invalid("text", "An answer has at most 64 KiB, written as a JSON string.");
  const earlier = state.turn?.inputs.find((input) => input.inputId === inputId);
  if (earlier !== undefined) {
    const { providedBy } = earlier;
    return conflict("INPUT_PROVIDED", `Question ${inputId} was settled already, by ${providedBy}.`, [inputId], { provided_by: providedBy });
  }
  const named = namedTurn(recorder, request.turnId);
  if ("rejection" in named) return named;
  const { turnId, toolCalls } = named.turn;
  const call = toolCalls.find((open) => open.input?.inputId === inputId);
  if (call === undefined) {
    return conflict("INPUT_NOT_REQUESTED", `Turn ${turnId} waits for no answer to question ${inputId}. Its open calls tell what it waits for.`, [
      turnId,
      inputId,
    ]);
  }
  const ids = { turnId, toolCallId: call.toolCallId };
  recorder.record({ ...ids, payload: { case: "turnInputProvided", value: create(TurnInputProvidedSchema, { inputId, text }) }, sensitive: true });
  const output = create(ValueSchema, { kind: { case: "json", value: json } });
  const durationMs = BigInt(Math.max(0, context.nowMs - (call.input?.requestedAtMs ?? context.nowMs)));
  recorder.record({ ...ids, payload: { case: "toolCompleted", value: create(ToolCompletedSchema, { output, durationMs }) }, sensitive: true });
  checkpoint(recorder, turnId, CheckpointKind.AFTER_USER_INPUT);
  return create(ProvideInputResponseSchema);
}

/** Nobody answered in time, which the model is told. */
export function expireInput(recorder: SessionRecorder, turn: TurnState, call: ToolCallState): void {
  const error = create(ForgeErrorSchema, {
    code: ErrorCode.DEADLINE_EXCEEDED,
    reason: "INPUT_EXPIRED",
    message: "Nobody answered the question in time.",
    origin: "control-plane",
    relatedIds: [call.toolCallId],
  });
  const ids = { turnId: turn.turnId, toolCallId: call.toolCallId };
  recorder.record({ ...ids, payload: { case: "toolFailed", value: create(ToolFailedSchema, { error }) }, sensitive: true });
}
