import { ForgeError } from "@forge/protocol";
import { Decision } from "@forge/protocol/tool";
import type { ModeName } from "../agent/agent-options.ts";
import { modeOf } from "../agent/agent-spec.ts";

/** The names of decisions as they are typed, by their prefix-free enum name. */
type DecisionName = Exclude<keyof typeof Decision, "UNSPECIFIED">;

/** Options that say what tools may do. */
export interface PolicyOptions {
  readonly default?: DecisionName;
  /** Tools, or prefixes with a *, by decision; in the order in which they are tried. */
  readonly rule?: Readonly<Record<string, string>>;
  readonly mode?: ModeName;
}

/** The policy that they stand for. Errors: validation. */
export function policyOf(options: PolicyOptions) {
  const rules = Object.entries(options.rule ?? {}).map(([tool, decision]) => ({ tool, decision: decisionOf(decision) }));
  const mode = options.mode === undefined ? {} : { mode: modeOf(options.mode) };
  return { rules, ...mode, ...(options.default === undefined ? {} : { defaultDecision: Decision[options.default] as Decision }) };
}

function decisionOf(name: string): Decision {
  const decision = Decision[name.toUpperCase() as DecisionName] as Decision | undefined;
  if (decision === undefined) throw ForgeError.validation("policy.rules", `${name.slice(0, 80)} is no decision: write allow, ask or deny`);
  return decision;
}
