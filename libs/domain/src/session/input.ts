import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode, ForgeErrorSchema, ValueSchema } from "@forge/protocol/common";
import {
  CheckpointKind,
  ToolCancelledSchema,
  ToolCompletedSchema,
  ToolDeniedSchema,
  ToolFailedSchema,
  TurnInputProvidedSchema,
  TurnInputRequestedSchema,
} from "@forge/protocol/event";
import { type ProvideInputRequest, ProvideInputResponseSchema, SessionStatus } from "@forge/protocol/session";
import { CapabilityDecisionSchema, Decision, ToolMode } from "@forge/protocol/tool";
import type { InputRequired } from "@forge/protocol/worker";
import type { Rejected } from "../decider.ts";
import { isStorable, utf8Length } from "../text.ts";
import { approvalTtlMs, modeOf } from "../tool-policy.ts";
import { checkpoint } from "./checkpoint.ts";
import { goesOnWithInput } from "./goes-on-with-input.ts";
import { namedTurn } from "./named-turn.ts";
import { onlyReads } from "./only-reads.ts";
import { conflict, invalid, sessionMissing } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { INPUT_ROUNDS_MAX, type ToolCallState, type TurnState } from "./state.ts";

/** What one Value holds inline, in bytes: the answer is the call's output. */
const VALUE_BYTES_MAX = 65_536;
const QUESTION_MAX = 4_096;
const RESUME_BYTES_MAX = 16_384;

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
  // A tool that asked in order to go on is dispatched again; else the person's words are what comes of the call.
  if (goesOnWithInput(call)) return create(ProvideInputResponseSchema);
  const output = create(ValueSchema, { kind: { case: "json", value: json } });
  const durationMs = BigInt(Math.max(0, context.nowMs - (call.input?.requestedAtMs ?? context.nowMs)));
  recorder.record({ ...ids, payload: { case: "toolCompleted", value: create(ToolCompletedSchema, { output, durationMs }) }, sensitive: true });
  checkpoint(recorder, turnId, CheckpointKind.AFTER_USER_INPUT);
  return create(ProvideInputResponseSchema);
}

/** A call that can't go on before a person has answered. It stays open, and holds nobody back. Without a question, or with too many of them, it fails. */
export function askToGoOn(recorder: SessionRecorder, turn: TurnState, call: ToolCallState, required: InputRequired): undefined {
  const { context, state } = recorder;
  const ids = { turnId: turn.turnId, toolCallId: call.toolCallId };
  const problem = inputProblem(call, required);
  if (turn.cancel !== undefined) {
    const value = create(ToolCancelledSchema, { reason: "The turn was asked to stop while the call waited for a person." });
    recorder.record({ ...ids, payload: { case: "toolCancelled", value } });
  } else if (modeOf(state.policy) === ToolMode.PLAN && !onlyReads(turn, call)) {
    const decision = create(CapabilityDecisionSchema, { ...call.decision, decision: Decision.DENY, source: "policy:mode", decidedBy: state.policyBy });
    const value = create(ToolDeniedSchema, { decision, reason: "The session was put into plan mode, so that the call can't go on." });
    recorder.record({ ...ids, payload: { case: "toolDenied", value }, sensitive: true });
  } else if (problem === undefined) {
    const { question, resumeJson } = required;
    const expiresAt = timestampFromMs(context.nowMs + approvalTtlMs(state.policy));
    const value = create(TurnInputRequestedSchema, { inputId: context.newId(), question, expiresAt, resumeJson });
    recorder.record({ ...ids, payload: { case: "turnInputRequested", value }, sensitive: true });
  } else {
    const { code, reason, message } = problem;
    const error = create(ForgeErrorSchema, { code, reason, message, origin: "control-plane", relatedIds: [call.toolCallId] });
    recorder.record({ ...ids, payload: { case: "toolFailed", value: create(ToolFailedSchema, { error }) }, sensitive: true });
  }
}

/** Why a call can't be continued with a person's answer; undefined where it can. */
function inputProblem(
  call: ToolCallState,
  { question, resumeJson }: InputRequired,
): { readonly code: ErrorCode; readonly reason: string; readonly message: string } | undefined {
  if (call.providedInputs.length >= INPUT_ROUNDS_MAX) {
    const message = `The call asked a person more than ${INPUT_ROUNDS_MAX} times and was ended.`;
    return { code: ErrorCode.RESOURCE_EXHAUSTED, reason: "TOO_MANY_INPUTS", message };
  }
  if (question.trim() === "" || question.length > QUESTION_MAX || !isStorable(question)) {
    return { code: ErrorCode.VALIDATION, reason: "INPUT_INVALID", message: `The tool asked a person nothing, or in more than ${QUESTION_MAX} characters.` };
  }
  if (!isStorable(resumeJson) || utf8Length(resumeJson) > RESUME_BYTES_MAX) {
    return { code: ErrorCode.VALIDATION, reason: "INPUT_INVALID", message: "What the tool left for itself to go on with is longer than 16 KiB, or no text." };
  }
  return undefined;
}

/** Nobody answered in time, which the model is told; where the question was about a failure, the failure is. */
export function expireInput(recorder: SessionRecorder, turn: TurnState, call: ToolCallState): void {
  const error =
    call.input?.error ??
    create(ForgeErrorSchema, {
      code: ErrorCode.DEADLINE_EXCEEDED,
      reason: "INPUT_EXPIRED",
      message: "Nobody answered the question in time.",
      origin: "control-plane",
      relatedIds: [call.toolCallId],
    });
  const ids = { turnId: turn.turnId, toolCallId: call.toolCallId };
  recorder.record({ ...ids, payload: { case: "toolFailed", value: create(ToolFailedSchema, { error }) }, sensitive: true });
}
