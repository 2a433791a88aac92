import { durationMs } from "@bufbuild/protobuf/wkt";
import { toolIdentity } from "@forge/protocol";
import { ApprovalCategory, Decision, RiskLevel, ToolMode, ToolModeSchema, type ToolPolicy, type ToolPreview, type ToolSpec } from "@forge/protocol/tool";
import type { Context } from "./decider.ts";
import { isStorable, isVisibleAscii } from "./text.ts";

const NAME_MAX = 128;
/** Characters of what names a rule. */
export const RULE_KEY_MAX = 512;
const RULES_MAX = 256;
/** A month. */
const APPROVAL_TTL_MS_MAX = 30 * 24 * 3_600_000;
const APPROVAL_TTL_MS_DEFAULT = 24 * 3_600_000;

/** What is known of a call when it is decided on. */
export interface JudgedCall {
  readonly tool: ToolSpec;
  /** What the worker said that the call would do; undefined where it was not asked. */
  readonly preview: ToolPreview | undefined;
}

/** What a policy says of a call, and which of its parts said it. */
export interface PolicyAnswer {
  /** PREVIEW where what the call would do has to be known first. */
  readonly decision: Decision;
  /** "policy:mode", "policy:rule:<n>", counted from 0, or "policy:default". */
  readonly source: string;
}

/**
 * What the mode and the rules say of a call. A rule that denies does so in every mode. In plan mode only what reads passes it; where the tool as a whole does
 * more, a preview may tell that this call does not. In bypass mode all else is allowed.
 */
export function applyPolicy(policy: ToolPolicy | undefined, call: JudgedCall): PolicyAnswer {
  const said = applyRules(policy, call);
  const mode = modeOf(policy);
  const isDenied = said.decision === Decision.DENY && (mode !== ToolMode.BYPASS || said.source !== DEFAULT);
  if (isDenied || said.decision === Decision.PREVIEW) return said;
  if (mode === ToolMode.PLAN && riskOf(call) !== RiskLevel.READ) return { decision: mayPreview(call) ? Decision.PREVIEW : Decision.DENY, source: MODE };
  if (mode === ToolMode.BYPASS && said.decision !== Decision.ALLOW) return { decision: Decision.ALLOW, source: MODE };
  return said;
}

const MODE = "policy:mode";
const DEFAULT = "policy:default";

/**
 * The first rule that matches decides; without one the policy's default; without that, what only reads is allowed and all else is asked. A rule for a rule key
 * can't be passed over before the call's is known.
 */
function applyRules(policy: ToolPolicy | undefined, call: JudgedCall): PolicyAnswer {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    if (!nameMatches(rule.tool, call.tool.name)) continue;
    const source = `policy:rule:${index}`;
    if (rule.ruleKey === "" || rule.ruleKey === call.preview?.ruleKey) return { decision: rule.decision, source };
    if (mayPreview(call)) return { decision: Decision.PREVIEW, source };
  }
  const decision = policy?.defaultDecision ?? (riskOf(call) === RiskLevel.READ ? Decision.ALLOW : Decision.ASK);
  return { decision, source: DEFAULT };
}

/** Whether the call's worker can still be asked what the call would do. */
export function mayPreview({ tool, preview }: JudgedCall): boolean {
  return tool.previews && preview === undefined;
}

/** What the call does at most: the tool's risk, or less where the preview says so. */
export function riskOf({ tool, preview }: JudgedCall): RiskLevel {
  const told = preview?.risk ?? RiskLevel.UNSPECIFIED;
  return told !== RiskLevel.UNSPECIFIED && (tool.risk === RiskLevel.UNSPECIFIED || told < tool.risk) ? told : tool.risk;
}

/** What a person grants together with the tool; UNSPECIFIED for one that only reads. */
export function categoryOf(tool: ToolSpec): ApprovalCategory {
  if (tool.category !== ApprovalCategory.UNSPECIFIED) return tool.category;
  if (tool.risk === RiskLevel.READ) return ApprovalCategory.UNSPECIFIED;
  return tool.risk === RiskLevel.CHANGE ? ApprovalCategory.CHANGES : ApprovalCategory.EXECUTION;
}

export function modeOf(policy: ToolPolicy | undefined): ToolMode {
  return policy === undefined || policy.mode === ToolMode.UNSPECIFIED ? ToolMode.ACT : policy.mode;
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
    if (rule.ruleKey.length > RULE_KEY_MAX || !isStorable(rule.ruleKey)) {
      return { field: `policy.rules[${index}].rule_key`, message: `A rule key has at most ${RULE_KEY_MAX} characters without NUL.` };
    }
  }
  if (policy.defaultDecision !== undefined && !isKnownDecision(policy.defaultDecision)) {
    return { field: "policy.default_decision", message: "The default allows, asks or denies." };
  }
  if (policy.answer !== undefined && policy.answer !== Decision.ALLOW && policy.answer !== Decision.DENY) {
    return { field: "policy.answer", message: "An answer in a person's place allows or denies." };
  }
  if (ToolModeSchema.value[policy.mode] === undefined) return { field: "policy.mode", message: "A mode is plan, act or bypass." };
  const ttlMs = policy.approvalTtl === undefined ? undefined : durationMs(policy.approvalTtl);
  if (ttlMs !== undefined && !(ttlMs > 0 && ttlMs <= APPROVAL_TTL_MS_MAX)) {
    return { field: "policy.approval_ttl", message: "An approval waits for more than nothing and at most 30 days." };
  }
  return undefined;
}

function isKnownDecision(decision: Decision): boolean {
  return decision === Decision.ALLOW || decision === Decision.ASK || decision === Decision.DENY;
}

function nameMatches(rule: string, name: string): boolean {
  return rule.endsWith("*") ? name.startsWith(rule.slice(0, -1)) : rule === name;
}

/** How long a person is waited for, in milliseconds. */
export function approvalTtlMs(policy: ToolPolicy | undefined): number {
  return policy?.approvalTtl === undefined ? APPROVAL_TTL_MS_DEFAULT : durationMs(policy.approvalTtl);
}

/** What a decision about a tool is bound to: a tool whose name, description, schema, risk or source changed is another tool. SHA-256, hexadecimal. */
export function toolDigest(context: Pick<Context, "sha256">, tool: ToolSpec): string {
  return context.sha256(toolIdentity(tool));
}
