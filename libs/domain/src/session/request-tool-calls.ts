import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ForgeErrorSchema } from "@forge/protocol/common";
import {
  CheckpointKind,
  FinishReason,
  type ModelCompleted,
  ToolApprovalRequiredSchema,
  ToolCancelledSchema,
  ToolDeniedSchema,
  ToolFailedSchema,
  ToolRequestedSchema,
} from "@forge/protocol/event";
import type { ToolCallPart } from "@forge/protocol/session";
import { type CapabilityDecision, CapabilityDecisionSchema, Decision, type ToolSpec } from "@forge/protocol/tool";
import { toolDigest } from "../tool-policy.ts";
import { checkpoint } from "./checkpoint.ts";
import { argumentsFit, passGate, type Verdict } from "./gate.ts";
import { askPerson } from "./input.ts";
import type { SessionRecorder } from "./session-command.ts";
import { activeTurn, findTool, type TurnState } from "./state.ts";

/** Records every call of an answer as intended, in order, with the gate's decision bound to it, and ends at once what will not be dispatched. */
export function requestToolCalls(recorder: SessionRecorder, completed: ModelCompleted): void {
  // A refused answer is left out of the conversation, so its calls are never made.
  if (completed.finishReason === FinishReason.CONTENT_FILTER) return;
  const isCut = completed.finishReason === FinishReason.LENGTH || completed.finishReason === FinishReason.ERROR;
  const calls = completed.parts.flatMap((part) => (part.kind.case === "toolCall" ? part.kind.value : []));
  if (calls.length > 0) checkpoint(recorder, activeTurn(recorder.state)?.turnId ?? "", CheckpointKind.BEFORE_TOOL_CALLS);
  for (const [index, part] of calls.entries()) {
    const turn = activeTurn(recorder.state);
    if (turn !== undefined) requestToolCall(recorder, turn, part, index, isCut);
  }
}

function requestToolCall(recorder: SessionRecorder, turn: TurnState, part: ToolCallPart, index: number, isCut: boolean): void {
  const { state, context } = recorder;
  const tool = findTool(turn, part.tool);
  // Models write no arguments at all where a tool takes none.
  const argumentsJson = part.argumentsJson.trim() === "" ? "{}" : part.argumentsJson;
  const verdict = passGate(state, turn, tool, { tool: part.tool, argumentsJson, isCut, index });
  const decision = bind(recorder, turn, tool, part.tool, argumentsJson, verdict);
  const ids = { turnId: turn.turnId, toolCallId: part.toolCallId };
  const requested = create(ToolRequestedSchema, {
    tool: part.tool,
    argumentsJson: argumentsFit(argumentsJson) ? argumentsJson : "",
    providerCallId: part.providerCallId,
    decision,
  });
  recorder.record({ ...ids, payload: { case: "toolRequested", value: requested }, sensitive: true });
  switch (verdict.kind) {
    case "granted":
      return askPerson(recorder, ids, part.tool, argumentsJson);
    case "asked": {
      const value = create(ToolApprovalRequiredSchema, { approvalId: context.newId(), expiresAt: decision.expiresAt });
      return recorder.record({ ...ids, payload: { case: "toolApprovalRequired", value } });
    }
    case "denied": {
      const value = create(ToolDeniedSchema, { decision, reason: verdict.reason });
      return recorder.record({ ...ids, payload: { case: "toolDenied", value }, sensitive: true });
    }
    case "impossible": {
      const { code, reason, message } = verdict;
      const error = create(ForgeErrorSchema, { code, reason, message, origin: "control-plane", relatedIds: [part.toolCallId] });
      return recorder.record({ ...ids, payload: { case: "toolFailed", value: create(ToolFailedSchema, { error }) }, sensitive: true });
    }
    case "stopped": {
      const value = create(ToolCancelledSchema, { reason: "The turn was asked to stop before the call was dispatched." });
      return recorder.record({ ...ids, payload: { case: "toolCancelled", value } });
    }
    default:
      return verdict satisfies never;
  }
}

const DECISIONS: Readonly<Record<Verdict["kind"], Decision>> = {
  granted: Decision.ALLOW,
  asked: Decision.ASK,
  denied: Decision.DENY,
  impossible: Decision.DENY,
  stopped: Decision.DENY,
};

/** Binds a verdict to exactly this call: this tool as it is served now, these arguments, this session, until the turn or the question ends. */
function bind(
  recorder: SessionRecorder,
  turn: TurnState,
  tool: ToolSpec | undefined,
  name: string,
  argumentsJson: string,
  verdict: Verdict,
): CapabilityDecision {
  const { state, context } = recorder;
  const byPolicy = verdict.source.startsWith("policy:");
  return create(CapabilityDecisionSchema, {
    decision: DECISIONS[verdict.kind],
    subject: `session:${context.streamId}`,
    tool: name,
    toolDigest: tool === undefined ? "" : toolDigest(context, tool),
    argumentsDigest: context.sha256(argumentsJson),
    source: verdict.source,
    // A policy speaks for whoever gave it to the session.
    decidedBy: byPolicy ? state.policyBy : "control-plane",
    expiresAt: timestampFromMs(verdict.kind === "asked" ? context.nowMs + verdict.ttlMs : turn.deadlineAtMs),
  });
}
