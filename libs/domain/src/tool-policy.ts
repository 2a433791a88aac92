import { durationMs } from "@bufbuild/protobuf/wkt";
import { Decision, RiskLevel, type ToolPolicy, type ToolSpec } from "@forge/protocol/tool";
import type { Context } from "./decider.ts";
import { isVisibleAscii } from "./text.ts";

const NAME_MAX = 128;
const RULES_MAX = 256;
/** A month. */
const APPROVAL_TTL_MS_MAX = 30 * 24 * 3_600_000;
const APPROVAL_TTL_MS_DEFAULT = 24 * 3_600_000;

/** What a policy says of a tool, and which of its rules said it. */
export interface PolicyAnswer {
  readonly decision: Decision;
  /** "policy:rule:<n>", counted from 0, "policy:default" or "policy:answer". */
  readonly source: string;
}

/** What the rules say of a tool; where they ask, the policy's answer stands in a person's place, if it has one. */
export function applyPolicy(policy: ToolPolicy | undefined, tool: ToolSpec): PolicyAnswer {
  const said = applyRules(policy, tool);
  if (said.decision !== Decision.ASK || policy?.answer === undefined) return said;
  return { decision: policy.answer, source: "policy:answer" };
}

/** The first rule that matches decides; without one the policy's default; without that, what only reads is allowed and all else is asked. */
function applyRules(policy: ToolPolicy | undefined, tool: ToolSpec): PolicyAnswer {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    if (ruleMatches(rule.tool, tool.name)) return { decision: rule.decision, source: `policy:rule:${index}` };
  }
  const decision = policy?.defaultDecision ?? (tool.risk === RiskLevel.READ ? Decision.ALLOW : Decision.ASK);
  return { decision, source: "policy:default" };
}

/** The first thing wrong with a policy, with its field; undefined where all is well. */
export function policyProblem(policy: ToolPolicy): { readonly field: string; readonly message: string } | undefined {
  if (policy.rules.length > RULES_MAX) return { field: "policy.rules", message: `A policy has at most ${RULES_MAX} rules.` };
  for (const [index, rule] of policy.rules.entries()) {
    const prefix = rule.tool.endsWith("*") ? rule.tool.slice(0, -1) : rule.tool;
    if (rule.tool.length > NAME_MAX || !isVisibleAscii(rule.tool) || prefix.includes("*")) {
      return { field: `policy.rules[${index}].tool`, message: "A rule names a tool, or a prefix followed by one *." };
    }
    if (!isKnownDecision(rule.decision)) return { field: `policy.rules[${index}].decision`, message: "A rule allows, asks or denies." };
  }
  if (policy.defaultDecision !== undefined && !isKnownDecision(policy.defaultDecision)) {
    return { field: "policy.default_decision", message: "The default allows, asks or denies." };
  }
  if (policy.answer !== undefined && policy.answer !== Decision.ALLOW && policy.answer !== Decision.DENY) {
    return { field: "policy.answer", message: "An answer in a person's place allows or denies." };
  }
  const ttlMs = policy.approvalTtl === undefined ? undefined : durationMs(policy.approvalTtl);
  if (ttlMs !== undefined && !(ttlMs > 0 && ttlMs <= APPROVAL_TTL_MS_MAX)) {
    return { field: "policy.approval_ttl", message: "An approval waits for more than nothing and at most 30 days." };
  }
  return undefined;
}

function isKnownDecision(decision: Decision): boolean {
  return decision === Decision.ALLOW || decision === Decision.ASK || decision === Decision.DENY;
}

function ruleMatches(rule: string, name: string): boolean {
  return rule.endsWith("*") ? name.startsWith(rule.slice(0, -1)) : rule === name;
}

/** How long a person is waited for, in milliseconds. */
export function approvalTtlMs(policy: ToolPolicy | undefined): number {
  return policy?.approvalTtl === undefined ? APPROVAL_TTL_MS_DEFAULT : durationMs(policy.approvalTtl);
}

/** What a decision about a tool is bound to: a tool whose name, description, schema or risk changed is another tool. SHA-256, hexadecimal. */
export function toolDigest(context: Context, tool: ToolSpec): string {
  return context.sha256(JSON.stringify([tool.name, tool.description, tool.inputSchemaJson, tool.risk]));
}
