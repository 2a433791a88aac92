import { create } from "@bufbuild/protobuf";
import { SessionPolicyUpdatedSchema, ToolDeniedSchema } from "@forge/protocol/event";
import { SessionStatus, type UpdateSessionPolicyRequest, UpdateSessionPolicyResponseSchema } from "@forge/protocol/session";
import { CapabilityDecisionSchema, Decision, ToolMode } from "@forge/protocol/tool";
import type { Rejected } from "../decider.ts";
import { modeOf } from "../tool-policy.ts";
import { onlyReads } from "./only-reads.ts";
import { invalid, sessionClosed, sessionMissing } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { activeTurn } from "./state.ts";
import { validatePolicy } from "./validate-session.ts";

/** From the next gate decision on. What was granted stays granted, and approvals that wait are still waited for, but plan mode lets nothing begin that does more than read. */
export function updateSessionPolicy(recorder: SessionRecorder, request: UpdateSessionPolicyRequest): SessionResult | Rejected {
  const { state, context } = recorder;
  const { policy, revokeGrants } = request;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (state.status === SessionStatus.CLOSED) return sessionClosed(context.streamId);
  if (policy === undefined) return invalid("policy", "A policy is needed; an empty one is what sessions have by default.");
  const wrong = validatePolicy(policy);
  if (wrong !== undefined) return wrong;
  recorder.record({ payload: { case: "sessionPolicyUpdated", value: create(SessionPolicyUpdatedSchema, { policy, grantsRevoked: revokeGrants }) } });
  if (modeOf(policy) === ToolMode.PLAN) denyWaiting(recorder);
  return create(UpdateSessionPolicyResponseSchema);
}

/** What was granted and whose turn in the order has not come. */
function denyWaiting(recorder: SessionRecorder): void {
  const turn = activeTurn(recorder.state);
  for (const call of turn?.toolCalls ?? []) {
    // A call that failed is done with: only what comes of it is still asked.
    if (turn === undefined || call.dispatched || call.input?.error !== undefined || call.decision.decision !== Decision.ALLOW || onlyReads(turn, call))
      continue;
    const decision = create(CapabilityDecisionSchema, { ...call.decision, decision: Decision.DENY, source: "policy:mode", decidedBy: recorder.state.policyBy });
    const reason = "The session was put into plan mode before the call's turn came.";
    const value = create(ToolDeniedSchema, { decision, reason });
    recorder.record({ turnId: turn.turnId, toolCallId: call.toolCallId, payload: { case: "toolDenied", value }, sensitive: true });
  }
}
