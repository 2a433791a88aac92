import { ApprovalCategory, ApprovalScope, Decision } from "@forge/protocol/tool";
import type { ApprovalAnswer } from "../approvals/approval-answer.ts";
import { categoryText } from "../approvals/category.ts";
import type { OpenApproval } from "../chat/open-calls.ts";
import type { ApproveName } from "./approve-names.ts";

/** The answer in a person's place: calls of the categories that were named are allowed, all others denied, and the model is told why. */
export function approveByCategory({ category }: Pick<OpenApproval, "category">, approved: readonly ApproveName[]): ApprovalAnswer {
  const isAllowed = approved.some((name) => name !== "NONE" && [category, ApprovalCategory.ALL].includes(ApprovalCategory[name]));
  if (!isAllowed)
    return {
      decision: Decision.DENY,
      comment: `Nobody is there to allow ${categoryText(category)}, and it was not allowed beforehand. Do without it, and say what is left.`,
    };
  return { decision: Decision.ALLOW, scope: ApprovalScope.ONCE };
}
