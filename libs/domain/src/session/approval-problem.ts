import type { ResolveApprovalRequest } from "@forge/protocol/event";
import { ApprovalCategory, ApprovalCategorySchema, ApprovalScope, ApprovalScopeSchema, Decision } from "@forge/protocol/tool";
import type { Rejected } from "../decider.ts";
import { isStorable } from "../text.ts";
import { controlTool } from "./control-tools/control-tool.ts";
import { argumentsError } from "./gate.ts";
import { invalid } from "./rejections.ts";

/** What does not go together in an answer, with its field; undefined where all does. */
export function approvalProblem(request: ResolveApprovalRequest): Rejected | undefined {
  const { scope, category, rememberRule, editedArgumentsJson, stopTurn } = request;
  if (ApprovalScopeSchema.value[scope] === undefined) return invalid("scope", "An approval holds once, for the turn or for the session.");
  if (ApprovalCategorySchema.value[category] === undefined) return invalid("category", "A category is changes, execution, evidence or all.");
  const isWide = scope === ApprovalScope.TURN || scope === ApprovalScope.SESSION;
  const hasCategory = category !== ApprovalCategory.UNSPECIFIED;
  if (request.decision === Decision.DENY) {
    if (isWide) return invalid("scope", "Only what is allowed can be allowed for longer.");
    if (hasCategory) return invalid("category", "Only what is allowed can be allowed with its category.");
    if (rememberRule) return invalid("remember_rule", "Only what is allowed can be remembered. A rule that denies belongs into the policy.");
    return editedArgumentsJson === "" ? undefined : invalid("edited_arguments_json", "Arguments are edited in order to be allowed.");
  }
  if (stopTurn) return invalid("stop_turn", "A turn is stopped by a denial.");
  if (isWide && !hasCategory && !rememberRule) return invalid("scope", "What holds for longer than this call says what: a category, or the call's rule.");
  if (!isWide && hasCategory) return invalid("category", "A category is allowed for the turn or for the session: set the scope.");
  if (!isWide && rememberRule) return invalid("remember_rule", "A rule is remembered for the turn or for the session: set the scope.");
  if (hasCategory && rememberRule) return invalid("remember_rule", "An answer allows a category or a rule, not both.");
  if (rememberRule && editedArgumentsJson !== "") return invalid("remember_rule", "The rule is that of the arguments that were shown, not of the edited ones.");
  return undefined;
}

/** Why edited arguments can't be a call's; undefined where they can. */
export function editProblem(tool: string, argumentsJson: string): Rejected | undefined {
  const field = "edited_arguments_json";
  if (!isStorable(argumentsJson)) return invalid(field, "Arguments are text without NUL and half surrogate pairs.");
  const wrong = argumentsError(argumentsJson) ?? controlTool(tool)?.problem(argumentsJson);
  return wrong === undefined ? undefined : invalid(field, wrong);
}
