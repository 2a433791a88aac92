import { create } from "@bufbuild/protobuf";
import { SessionPolicyUpdatedSchema } from "@forge/protocol/event";
import { SessionStatus, type UpdateSessionPolicyRequest, UpdateSessionPolicyResponseSchema } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { invalid, sessionClosed, sessionMissing } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { validatePolicy } from "./validate-session.ts";

/** From the next gate decision on. What was granted stays granted, and approvals that wait are still waited for. */
export function updateSessionPolicy(recorder: SessionRecorder, request: UpdateSessionPolicyRequest): SessionResult | Rejected {
  const { state, context } = recorder;
  const { policy } = request;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (state.status === SessionStatus.CLOSED) return sessionClosed(context.streamId);
  if (policy === undefined) return invalid("policy", "A policy is needed; an empty one is what sessions have by default.");
  const wrong = validatePolicy(policy);
  if (wrong !== undefined) return wrong;
  recorder.record({ payload: { case: "sessionPolicyUpdated", value: create(SessionPolicyUpdatedSchema, { policy }) } });
  return create(UpdateSessionPolicyResponseSchema);
}
