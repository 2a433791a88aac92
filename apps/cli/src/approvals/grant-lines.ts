import { ApprovalScope, type Grant } from "@forge/protocol/tool";
import type { Style } from "../output/style.ts";
import { oneLine } from "../output/text.ts";
import { categoryText } from "./category.ts";

/** What people allowed beyond single calls. */
export function grantLines(grants: readonly Grant[], style: Style): string[] {
  if (grants.length === 0) return ["Nothing is allowed beyond single calls."];
  return [...grants.map((grant) => grantText(grant, style)), style.dim("/approve revoke takes all of it back.")];
}

/** One grant on a line. */
export function grantText({ scope, category, tool, ruleTitle, ruleKey, grantedBy }: Grant, style: Style): string {
  const until = scope === ApprovalScope.TURN ? "for this turn" : "for the session";
  const what = category === 0 ? `${tool}: ${oneLine(ruleTitle || ruleKey)}` : categoryText(category);
  return `${style.green("✔")} ${what} ${style.dim(`${until}, by ${oneLine(grantedBy)}`)}`;
}
