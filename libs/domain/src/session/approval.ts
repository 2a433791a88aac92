import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ApprovalExpiredSchema,
  ApprovalResolvedSchema,
  type ResolveApprovalRequest,
  ResolveApprovalResponseSchema,
  ToolDeniedSchema,
} from "@forge/protocol/event";
import { SessionStatus } from "@forge/protocol/session";
import { type CapabilityDecision, CapabilityDecisionSchema, Decision, DecisionSchema } from "@forge/protocol/tool";
import type { Rejected } from "../decider.ts";
import { isStorable } from "../text.ts";
import { askPerson } from "./input.ts";
import { conflict, invalid, notFound, sessionMissing } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { activeTurn, type ToolCallState, type TurnState } from "./state.ts";

const COMMENT_MAX = 4_096;

/** A person's answer. The first one wins; a later one is told what it was. */
export function resolveApproval(recorder: SessionRecorder, request: ResolveApprovalRequest): SessionResult | Rejected {
  const { state, context } = recorder;
  const { approvalId, comment } = request;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (request.decision !== Decision.ALLOW && request.decision !== Decision.DENY) return invalid("decision", "An approval is answered with allow or deny.");
  if (comment.length > COMMENT_MAX || !isStorable(comment)) return invalid("comment", `A comment has at most ${COMMENT_MAX} characters without NUL.`);
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
  const decision = create(CapabilityDecisionSchema, {
    ...bindingOf(call),
    decision: request.decision,
    source: `approval:${approvalId}`,
    decidedBy: context.principal,
    // What was granted holds as long as the turn, not as long as the question was open.
    expiresAt: timestampFromMs(turn.deadlineAtMs),
  });
  const ids = { turnId: turn.turnId, toolCallId: call.toolCallId };
  recorder.record({ ...ids, payload: { case: "approvalResolved", value: create(ApprovalResolvedSchema, { approvalId, decision, comment }) }, sensitive: true });
  if (request.decision === Decision.DENY) {
    const reason = comment === "" ? "A person denied the call." : comment;
    recorder.record({ ...ids, payload: { case: "toolDenied", value: create(ToolDeniedSchema, { decision, reason }) }, sensitive: true });
  }
  if (request.decision === Decision.ALLOW) askPerson(recorder, ids, call.tool, call.argumentsJson);
  return create(ResolveApprovalResponseSchema);
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
function bindingOf(call: ToolCallState): Pick<CapabilityDecision, "subject" | "tool" | "toolDigest" | "argumentsDigest"> {
  const { subject, tool, toolDigest, argumentsDigest } = call.decision;
  return { subject, tool, toolDigest, argumentsDigest };
}
