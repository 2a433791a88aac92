import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ApprovalExpiredSchema,
  ApprovalResolvedSchema,
  type ResolveApprovalRequest,
  ResolveApprovalResponseSchema,
  ToolArgumentsEditedSchema,
  ToolDeniedSchema,
} from "@forge/protocol/event";
import { SessionStatus } from "@forge/protocol/session";
import {
  ApprovalScope,
  type CapabilityDecision,
  CapabilityDecisionSchema,
  Decision,
  DecisionSchema,
  type Grant,
  GrantSchema,
  ToolMode,
} from "@forge/protocol/tool";
import type { Rejected } from "../decider.ts";
import { isStorable } from "../text.ts";
import { modeOf } from "../tool-policy.ts";
import { approvalProblem, editProblem } from "./approval-problem.ts";
import { serveCall } from "./control-tools/serve-call.ts";
import { judge } from "./gate.ts";
import { onlyReads } from "./only-reads.ts";
import { conflict, invalid, notFound, sessionMissing } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { activeTurn, findTool, type ToolCallState, type TurnState } from "./state.ts";
import { denyAndStop } from "./stop-turn.ts";

const COMMENT_MAX = 4_096;

/** A person's answer. The first one wins; a later one is told what it was. */
export function resolveApproval(recorder: SessionRecorder, request: ResolveApprovalRequest): SessionResult | Rejected {
  const { state, context } = recorder;
  const { approvalId, comment } = request;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (request.decision !== Decision.ALLOW && request.decision !== Decision.DENY) return invalid("decision", "An approval is answered with allow or deny.");
  if (comment.length > COMMENT_MAX || !isStorable(comment)) return invalid("comment", `A comment has at most ${COMMENT_MAX} characters without NUL.`);
  const wrong = approvalProblem(request);
  if (wrong !== undefined) return wrong;
  const earlier = state.turn?.resolutions.find((resolution) => resolution.approvalId === approvalId);
  if (earlier !== undefined) {
    const decision = DecisionSchema.value[earlier.decision]?.name ?? "";
    const message = `Approval ${approvalId} was answered already by ${earlier.decidedBy}: ${decision}.`;
    return conflict("APPROVAL_RESOLVED", message, [approvalId], { decision, decided_by: earlier.decidedBy });
  }
  const turn = activeTurn(state);
  const call = turn?.toolCalls.find((open) => open.approval?.approvalId === approvalId);
  if (turn === undefined || call === undefined) {
    return notFound(
      "APPROVAL_NOT_FOUND",
      `No approval ${approvalId} waits in session ${context.streamId}. List those that wait with ListPendingApprovals.`,
      approvalId,
    );
  }
  const refused = request.decision === Decision.ALLOW ? allow(recorder, turn, call, request) : deny(recorder, turn, call, request);
  return refused ?? create(ResolveApprovalResponseSchema);
}

function allow(recorder: SessionRecorder, turn: TurnState, call: ToolCallState, request: ResolveApprovalRequest): Rejected | undefined {
  const { state, context } = recorder;
  const { approvalId, comment, editedArgumentsJson } = request;
  if (modeOf(state.policy) === ToolMode.PLAN && !onlyReads(turn, call)) {
    const message = `Session ${context.streamId} is in plan mode, in which only what reads is executed. Change the mode first, or deny the call.`;
    return conflict("PLAN_MODE", message, [approvalId]);
  }
  if (request.rememberRule && (call.previewed?.ruleKey ?? "") === "") {
    return invalid("remember_rule", "No rule can be made of this call: nothing names exactly what it does. Allow it once, or its category.");
  }
  const isEdited = editedArgumentsJson !== "";
  const wrong = isEdited ? editProblem(call.tool, editedArgumentsJson) : undefined;
  if (wrong !== undefined) return wrong;
  const argumentsDigest = isEdited ? context.sha256(editedArgumentsJson) : call.decision.argumentsDigest;
  const decision = create(CapabilityDecisionSchema, {
    ...bindingOf(call),
    argumentsDigest,
    // What was shown is not what is executed where a person changed it.
    previewDigest: isEdited ? "" : call.decision.previewDigest,
    decision: Decision.ALLOW,
    source: `approval:${approvalId}`,
    decidedBy: context.principal,
    // What was granted holds as long as the turn, not as long as the question was open.
    expiresAt: timestampFromMs(turn.deadlineAtMs),
  });
  const ids = { turnId: turn.turnId, toolCallId: call.toolCallId };
  if (isEdited) {
    const value = create(ToolArgumentsEditedSchema, { argumentsJson: editedArgumentsJson, argumentsDigest, editedBy: context.principal });
    recorder.record({ ...ids, payload: { case: "toolArgumentsEdited", value }, sensitive: true });
  }
  const grant = grantOf(recorder, turn, call, request);
  recorder.record({
    ...ids,
    payload: { case: "approvalResolved", value: create(ApprovalResolvedSchema, { approvalId, decision, comment, grant }) },
    sensitive: true,
  });
  serveCall(recorder, ids, call.tool, isEdited ? editedArgumentsJson : call.argumentsJson);
  if (grant !== undefined) releaseSiblings(recorder, turn.turnId);
  return undefined;
}

function deny(recorder: SessionRecorder, turn: TurnState, call: ToolCallState, request: ResolveApprovalRequest): undefined {
  const { context } = recorder;
  const { approvalId, comment, stopTurn } = request;
  const decision = create(CapabilityDecisionSchema, {
    ...bindingOf(call),
    decision: Decision.DENY,
    source: `approval:${approvalId}`,
    decidedBy: context.principal,
    expiresAt: timestampFromMs(turn.deadlineAtMs),
  });
  const ids = { turnId: turn.turnId, toolCallId: call.toolCallId };
  const resolved = create(ApprovalResolvedSchema, { approvalId, decision, comment, stopTurn });
  recorder.record({ ...ids, payload: { case: "approvalResolved", value: resolved }, sensitive: true });
  const reason = comment === "" ? "A person denied the call." : comment;
  recorder.record({ ...ids, payload: { case: "toolDenied", value: create(ToolDeniedSchema, { decision, reason }) }, sensitive: true });
  if (stopTurn) denyAndStop(recorder);
}

/** What the answer allows beyond its own call; undefined where it is that alone. */
function grantOf(recorder: SessionRecorder, turn: TurnState, call: ToolCallState, request: ResolveApprovalRequest): Grant | undefined {
  const { scope, category, rememberRule, approvalId } = request;
  if (scope !== ApprovalScope.TURN && scope !== ApprovalScope.SESSION) return undefined;
  const { toolDigest } = call.decision;
  return create(GrantSchema, {
    approvalId,
    scope,
    category,
    ...(rememberRule ? { tool: call.tool, toolDigest, ruleKey: call.previewed?.ruleKey, ruleTitle: call.previewed?.ruleTitle } : {}),
    grantedBy: recorder.context.principal,
    grantedAt: timestampFromMs(recorder.context.nowMs),
    turnId: scope === ApprovalScope.TURN ? turn.turnId : "",
  });
}

/** Calls that wait for a person and that the new grant covers: he has answered for them too. */
function releaseSiblings(recorder: SessionRecorder, turnId: string): void {
  for (const { toolCallId } of activeTurn(recorder.state)?.toolCalls ?? []) {
    const { state, context } = recorder;
    const turn = activeTurn(state);
    const call = turn?.toolCalls.find((open) => open.toolCallId === toolCallId);
    const tool = turn === undefined || call === undefined ? undefined : findTool(turn, call.tool);
    if (turn === undefined || call?.approval === undefined || tool === undefined) continue;
    const verdict = judge(context, state, turn, { tool, preview: call.previewed });
    if (verdict.kind !== "granted" || verdict.grantedBy === undefined) continue;
    const decision = create(CapabilityDecisionSchema, {
      ...bindingOf(call),
      decision: Decision.ALLOW,
      source: verdict.source,
      decidedBy: verdict.grantedBy,
      expiresAt: timestampFromMs(turn.deadlineAtMs),
    });
    const ids = { turnId, toolCallId };
    const value = create(ApprovalResolvedSchema, { approvalId: call.approval.approvalId, decision });
    recorder.record({ ...ids, payload: { case: "approvalResolved", value }, sensitive: true });
    serveCall(recorder, ids, call.tool, call.argumentsJson);
  }
}

/** Nobody answered in time, which is a no. */
export function expireApproval(recorder: SessionRecorder, turn: TurnState, call: ToolCallState, approvalId: string): void {
  const ids = { turnId: turn.turnId, toolCallId: call.toolCallId };
  recorder.record({ ...ids, payload: { case: "approvalExpired", value: create(ApprovalExpiredSchema, { approvalId }) } });
  const decision = create(CapabilityDecisionSchema, {
    ...bindingOf(call),
    decision: Decision.DENY,
    source: `approval:${approvalId}`,
    decidedBy: "expiry",
    expiresAt: call.decision.expiresAt,
  });
  const reason = "Nobody approved the call in time.";
  recorder.record({ ...ids, payload: { case: "toolDenied", value: create(ToolDeniedSchema, { decision, reason }) }, sensitive: true });
}

/** What a decision about the call is bound to, whatever it says. */
function bindingOf(call: ToolCallState): Pick<CapabilityDecision, "subject" | "tool" | "toolDigest" | "argumentsDigest" | "previewDigest"> {
  const { subject, tool, toolDigest, argumentsDigest, previewDigest } = call.decision;
  return { subject, tool, toolDigest, argumentsDigest, previewDigest };
}
