import type { AgentStep, PromptVariant } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { fractionOf } from "../fraction-of.ts";

/** The variant that an execution takes, by weight; undefined where the step has none. Derived from what names the execution, so that it is the same however often it is asked for. */
export function chooseVariant(
  { variants }: AgentStep,
  context: Pick<Context, "sha256">,
  execution: { readonly runId: string; readonly stepId: string; readonly executionIndex: number },
): PromptVariant | undefined {
  const total = variants.reduce((sum, { weight }) => sum + weight, 0);
  let rest = fractionOf(context, "variant", execution.runId, execution.stepId, execution.executionIndex) * total;
  for (const variant of variants) {
    rest -= variant.weight;
    if (rest < 0) return variant;
  }
  return variants.at(-1);
}

/** The step with a variant's words in place of its own; as it is where it has no such variant. */
export function withVariant(step: AgentStep, name: string): AgentStep {
  const variant = step.variants.find((each) => each.name === name);
  if (variant === undefined) return step;
  return { ...step, prompt: variant.prompt, agent: step.agent && { ...step.agent, system: variant.system } };
}

/** All user messages that a step may render. */
export function promptsOf({ prompt, variants }: AgentStep): readonly string[] {
  return [prompt, ...variants.map((variant) => variant.prompt)];
}
