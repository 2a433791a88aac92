import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { WorkflowDefinition } from "@forge/protocol/workflow";
import { definitionReferences } from "../definition/definition-references.ts";
import type { Project } from "./project.ts";

/** Bounds that nothing keeps, and what does so instead. */
const LIMITS: readonly (readonly [name: string, instead: string])[] = [
  ["rate_limit_rpm", "a provider's own limit is waited for, and `parallel_max` bounds what a run asks at once"],
  ["max_requests_per_run", "write `budget: {model_calls: ...}` in the agents"],
  ["max_total_tokens_per_run", "write `budget: {tokens: ...}` in the agents"],
  ["max_cost_usd_per_run", "write `budget: {cost: ...}` in the agents"],
];

/**
 * Refuses a workflow that calls models where its project sets a bound for them that nothing keeps: what was to bound costs must not be passed over. 0 is no bound.
 * Throws ForgeError: unsupported, CONFIG_VALIDATION, with the bound's place.
 */
export function checkModelLimits(definition: WorkflowDefinition, { config, placeOf }: Pick<Project, "config" | "placeOf">): void {
  const limits = config.llm.limits ?? {};
  const set = LIMITS.filter(([name]) => Number(limits[name] ?? 0) > 0);
  if (set.length === 0 || definitionReferences(definition).models.length === 0) return;
  const messages = set.map(([name, instead]) => {
    const place = placeOf(`llm.limits.${name}`);
    return `${place === undefined ? "" : `${place.file}:${place.line}:${place.column}: `}llm.limits.${name} is not supported: ${instead}, or set it to 0`;
  });
  throw new ForgeError(ErrorCode.UNSUPPORTED, messages.join("\n"), { reason: "CONFIG_VALIDATION" });
}
