import { Decision, RiskLevel, type ToolPolicy, type ToolSpec } from "@forge/protocol/tool";
import type { Context } from "./decider.ts";

/** What a policy says of a tool, and which of its rules said it. */
export interface PolicyAnswer {
  readonly decision: Decision;
  /** "policy:rule:<n>", counted from 0, or "policy:default". */
  readonly source: string;
}

/** The first rule that matches decides; without one the policy's default; without that, what only reads is allowed and all else is asked. */
export function applyPolicy(policy: ToolPolicy | undefined, tool: ToolSpec): PolicyAnswer {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    if (ruleMatches(rule.tool, tool.name)) return { decision: rule.decision, source: `policy:rule:${index}` };
  }
  const decision = policy?.defaultDecision ?? (tool.risk === RiskLevel.READ ? Decision.ALLOW : Decision.ASK);
  return { decision, source: "policy:default" };
}

function ruleMatches(rule: string, name: string): boolean {
  return rule.endsWith("*") ? name.startsWith(rule.slice(0, -1)) : rule === name;
}

/** What a decision about a tool is bound to: a tool whose name, description, schema or risk changed is another tool. SHA-256, hexadecimal. */
export function toolDigest(context: Context, tool: ToolSpec): string {
  return context.sha256(JSON.stringify([tool.name, tool.description, tool.inputSchemaJson, tool.risk]));
}
