import { ApprovalCategory, RiskLevel, type ToolSpec } from "@forge/protocol/tool";

/** What a call of a tool is granted with. */
export function categoryOf(tool: Pick<ToolSpec, "category" | "risk"> | undefined): ApprovalCategory {
  if (tool === undefined) return ApprovalCategory.EXECUTION;
  if (tool.category !== ApprovalCategory.UNSPECIFIED) return tool.category;
  return tool.risk === RiskLevel.CHANGE ? ApprovalCategory.CHANGES : ApprovalCategory.EXECUTION;
}

const TEXTS: Readonly<Record<ApprovalCategory, string>> = {
  [ApprovalCategory.UNSPECIFIED]: "this call",
  [ApprovalCategory.CHANGES]: "changes of files in the workspace",
  [ApprovalCategory.EXECUTION]: "commands and the network",
  [ApprovalCategory.EVIDENCE]: "tests and checks that the project wrote down",
  [ApprovalCategory.ALL]: "everything",
};

/** A category for people. */
export function categoryText(category: ApprovalCategory): string {
  return TEXTS[category] ?? String(category);
}
