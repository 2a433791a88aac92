import { create } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import {
  FinishReason,
  type ModelCompleted,
  ToolApprovalRequiredSchema,
  ToolCancelledSchema,
  ToolDeniedSchema,
  ToolFailedSchema,
  ToolRequestedSchema,
} from "@forge/protocol/event";
import type { ToolCallPart } from "@forge/protocol/session";
import { type CapabilityDecision, CapabilityDecisionSchema, Decision } from "@forge/protocol/tool";
import { utf8Length } from "../text.ts";
import { applyPolicy, toolDigest } from "../tool-policy.ts";
import { toolCallBudget } from "./budget.ts";
import type { SessionRecorder } from "./session-command.ts";
import { findTool, type TurnState } from "./state.ts";

const APPROVAL_TTL_MS_DEFAULT = 24 * 3_600_000;
const ARGUMENTS_BYTES_MAX = 65_536;
/** More calls than this in one answer are a runaway model; it keeps an answer's open calls within a few megabytes. */
const CALLS_PER_ANSWER_MAX = 256;

/**
 * The gate: every call of an answer is first recorded as intended, with the decision bound to it, and only what is granted is ever dispatched. What can't
 * be executed (no such tool, cut or invalid arguments) ends at once, and so does what the policy or a budget denies; the model is told in each case.
 */
export function requestToolCalls(recorder: SessionRecorder, turnId: string, completed: ModelCompleted): void {
  // A refused answer is left out of the conversation, so its calls are never made.
  if (completed.finishReason === FinishReason.CONTENT_FILTER) return;
  const isCut = completed.finishReason === FinishReason.LENGTH || completed.finishReason === FinishReason.ERROR;
  let index = 0;
  for (const part of completed.parts) {
    if (part.kind.case !== "toolCall") continue;
    const turn = recorder.state.turn;
    if (turn === undefined) return;
    requestToolCall(recorder, turn, part.kind.value, { turnId, isCut, index });
    index += 1;
  }
}

interface Place {
  readonly turnId: string;
  /** The answer broke off, so that its calls may be incomplete. */
  readonly isCut: boolean;
  /** Among the calls of the answer. */
  readonly index: number;
}

function requestToolCall(recorder: SessionRecorder, turn: TurnState, part: ToolCallPart, place: Place): void {
  const { state, context } = recorder;
  const { toolCallId } = part;
  const ids = { turnId: place.turnId, toolCallId };
  const tool = findTool(turn, part.tool);
  // Models write no arguments at all where a tool takes none.
  const argumentsJson = part.argumentsJson.trim() === "" ? "{}" : part.argumentsJson;
  const argumentsFit = utf8Length(argumentsJson) <= ARGUMENTS_BYTES_MAX;
  const decide = (decision: Decision, source: string, expiresAtMs = turn.deadlineAtMs): CapabilityDecision =>
    create(CapabilityDecisionSchema, {
      decision,
      source,
      subject: `session:${context.streamId}`,
      tool: part.tool,
      toolDigest: tool === undefined ? "" : toolDigest(context, tool),
      argumentsDigest: context.sha256(argumentsJson),
      decidedBy: source.startsWith("policy:") ? state.createdBy : "control-plane",
      expiresAt: timestampFromMs(expiresAtMs),
    });
  const request = (decision: CapabilityDecision): void => {
    const { tool: name, providerCallId } = part;
    const value = create(ToolRequestedSchema, { tool: name, argumentsJson: argumentsFit ? argumentsJson : "", providerCallId, decision });
    recorder.record({ ...ids, payload: { case: "toolRequested", value }, sensitive: true });
  };
  const fail = (code: ErrorCode, reason: string, message: string): void => {
    request(decide(Decision.DENY, `gate:${reason}`));
    const error = create(ForgeErrorSchema, { code, reason, message, origin: "control-plane", relatedIds: [toolCallId] });
    recorder.record({ ...ids, payload: { case: "toolFailed", value: create(ToolFailedSchema, { error }) }, sensitive: true });
  };
  const deny = (decision: CapabilityDecision, reason: string): void => {
    request(decision);
    recorder.record({ ...ids, payload: { case: "toolDenied", value: create(ToolDeniedSchema, { decision, reason }) }, sensitive: true });
  };

  if (turn.cancel !== undefined) {
    request(decide(Decision.DENY, "gate:TURN_CANCELLING"));
    const value = create(ToolCancelledSchema, { reason: "The turn was asked to stop before the call was dispatched." });
    recorder.record({ ...ids, payload: { case: "toolCancelled", value } });
    return;
  }
  if (tool === undefined) return fail(ErrorCode.NOT_FOUND, "TOOL_NOT_FOUND", notFoundMessage(turn, part.tool, state.agent?.tools ?? []));
  if (place.isCut) return fail(ErrorCode.VALIDATION, "ARGUMENTS_CUT", "The answer broke off, so this call may be incomplete and was not executed. Call again, with less text.");
  if (!argumentsFit) return fail(ErrorCode.VALIDATION, "INVALID_ARGUMENTS", "The arguments are longer than 64 KiB. The call was not executed.");
  const wrong = argumentsError(argumentsJson);
  if (wrong !== undefined) return fail(ErrorCode.VALIDATION, "INVALID_ARGUMENTS", `${wrong} The call was not executed.`);
  if (place.index >= CALLS_PER_ANSWER_MAX) {
    return fail(ErrorCode.RESOURCE_EXHAUSTED, "TOO_MANY_CALLS", `One answer may call at most ${CALLS_PER_ANSWER_MAX} tools. The call was not executed.`);
  }
  if (turn.toolCallCount >= toolCallBudget(state.agent?.budget)) {
    return deny(decide(Decision.DENY, "budget:tool_calls"), "The turn may make no more tool calls.");
  }

  const answer = applyPolicy(state.policy, tool);
  if (answer.decision === Decision.ALLOW) return request(decide(Decision.ALLOW, answer.source));
  if (answer.decision === Decision.DENY) return deny(decide(Decision.DENY, answer.source), "The session's policy denies this tool.");
  const ttl = state.policy?.approvalTtl;
  const expiresAtMs = context.nowMs + (ttl === undefined ? APPROVAL_TTL_MS_DEFAULT : durationMs(ttl));
  request(decide(Decision.ASK, answer.source, expiresAtMs));
  const value = create(ToolApprovalRequiredSchema, { approvalId: context.newId(), expiresAt: timestampFromMs(expiresAtMs) });
  recorder.record({ ...ids, payload: { case: "toolApprovalRequired", value } });
}

function notFoundMessage(turn: TurnState, name: string, agentTools: readonly string[]): string {
  if (agentTools.includes(name)) return `Tool ${name} is not served by any worker. The call was not executed.`;
  const known = turn.tools.map((tool) => tool.name).join(", ");
  return `There is no tool ${JSON.stringify(name)}. ${known === "" ? "No tools can be called." : `Tools that can be called: ${known}.`}`;
}

/** What is wrong with the argument text, as a sentence; undefined where it is a JSON object. */
function argumentsError(argumentsJson: string): string | undefined {
  try {
    const value: unknown = JSON.parse(argumentsJson);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "The arguments are not a JSON object.";
  } catch {
    // The parser's own words are left out: they quote the text and differ between versions.
    return "The arguments are not valid JSON.";
  }
}
