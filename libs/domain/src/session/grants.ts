import { ApprovalCategory, ApprovalScope, type Grant } from "@forge/protocol/tool";
import { categoryOf, type JudgedCall } from "../tool-policy.ts";

/** What people grant in one session is counted in tens; the oldest goes first, which only means that somebody is asked again. */
export const GRANTS_MAX = 256;

/** The grant that allows a call, the newest first; undefined where a person has to be asked. */
export function coveringGrant(grants: readonly Grant[], turnId: string, call: JudgedCall, digest: string): Grant | undefined {
  return grants.findLast((grant) => (grant.scope === ApprovalScope.SESSION || grant.turnId === turnId) && covers(grant, call, digest));
}

/** A rule stands for exactly what the person saw: this tool as it was then, and this rule key. */
function covers(grant: Grant, call: JudgedCall, digest: string): boolean {
  if (grant.category === ApprovalCategory.UNSPECIFIED) {
    return grant.ruleKey !== "" && grant.ruleKey === call.preview?.ruleKey && grant.tool === call.tool.name && grant.toolDigest === digest;
  }
  return grant.category === ApprovalCategory.ALL || grant.category === categoryOf(call.tool);
}

/** The grants with one more; the same again takes the place of the one before. */
export function withGrant(grants: readonly Grant[], grant: Grant): Grant[] {
  return [...grants.filter((other) => !isSame(other, grant)), grant].slice(-GRANTS_MAX);
}

function isSame(one: Grant, other: Grant): boolean {
  const keys = ["scope", "category", "tool", "toolDigest", "ruleKey", "turnId"] as const;
  return keys.every((key) => one[key] === other[key]);
}
