import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { ApprovalResolvedSchema, type ResolveApprovalRequest, ResolveApprovalResponseSchema } from "@forge/protocol/event";
import { ApprovalCategory, ApprovalScope, CapabilityDecisionSchema, Decision } from "@forge/protocol/tool";
import { RunStatus } from "@forge/protocol/workflow";
import type { Rejected } from "../decider.ts";
import { isStorable } from "../text.ts";
import { refusal, stepError } from "./errors.ts";
import { executionAwaiting } from "./executions.ts";
import { inlineValue } from "./json.ts";
import { type RunRecorder, record } from "./recorder.ts";
import type { RunResult } from "./run-command.ts";
import { completeStep, recordStepFailure } from "./settle.ts";

const COMMENT_LENGTH_MAX = 4_096;

/** A person's answer to a wait for one. The first wins; a later one is told what it was. */
export function resolveRunApproval(run: RunRecorder, request: ResolveApprovalRequest): RunResult | Rejected {
  const { state, context } = run;
  const { approvalId, decision, comment } = request;
  if (state.status === RunStatus.UNSPECIFIED) return refusal(ErrorCode.NOT_FOUND, "RUN_NOT_FOUND", `there is no run ${context.streamId}`, context.streamId);
  if (decision !== Decision.ALLOW && decision !== Decision.DENY) return invalid("decision", "an approval is answered with allow or deny");
  if (comment.length > COMMENT_LENGTH_MAX || !isStorable(comment))
    return invalid("comment", `a comment has at most ${COMMENT_LENGTH_MAX} characters without NUL`);
  const beyond = fieldOfSessions(request);
  if (beyond !== undefined) return invalid(beyond, `${beyond} is for the approval of a session's call: a run's wait is answered with allow or deny`);
  const earlier = state.resolutions.find((resolution) => resolution.approvalId === approvalId);
  if (earlier !== undefined) {
    const message = `approval ${approvalId} was answered already by ${earlier.decidedBy}: ${earlier.decision}`;
    const metadata = { decision: earlier.decision, decided_by: earlier.decidedBy };
    return {
      rejection: new ForgeError(ErrorCode.CONFLICT, message, { reason: "APPROVAL_RESOLVED", relatedIds: [approvalId], metadata, origin: "control-plane" })
        .detail,
    };
  }
  const execution = executionAwaiting(state.executions, "approval", approvalId);
  if (execution === undefined) {
    return refusal(ErrorCode.NOT_FOUND, "APPROVAL_NOT_FOUND", `no approval ${approvalId} waits in run ${state.runId}; list those that wait`, approvalId);
  }
  const { stepId } = execution;
  const decidedBy = context.principal;
  const granted = create(CapabilityDecisionSchema, { subject: `run:${state.runId}/${stepId}`, decision, source: `approval:${approvalId}`, decidedBy });
  record(run, { case: "approvalResolved", value: create(ApprovalResolvedSchema, { approvalId, decision: granted, comment }) }, { stepId });
  if (decision === Decision.DENY) {
    const why = comment === "" ? `${decidedBy} said no` : `${decidedBy} said no: ${comment}`;
    recordStepFailure(run, execution, stepError(ErrorCode.PERMISSION_DENIED, "APPROVAL_DENIED", stepId, why), undefined);
  } else completeStep(run, execution, inlineValue(JSON.stringify({ decision: "allow", comment, decided_by: decidedBy })), {});
  return create(ResolveApprovalResponseSchema);
}

/** The first field that is set and says something about a tool call, which a run's wait is not; undefined where none is. */
function fieldOfSessions(request: ResolveApprovalRequest): string | undefined {
  if (request.scope > ApprovalScope.ONCE) return "scope";
  if (request.category !== ApprovalCategory.UNSPECIFIED) return "category";
  if (request.rememberRule) return "remember_rule";
  if (request.editedArgumentsJson !== "") return "edited_arguments_json";
  return request.stopTurn ? "stop_turn" : undefined;
}

function invalid(field: string, message: string): Rejected {
  return { rejection: ForgeError.validation(field, message, { origin: "control-plane" }).detail };
}
