import { parseTemplate, templateReferences } from "@forge/domain";
import type { LoadedAgent } from "../agent/agent-source.ts";
import { type Problems, unknownName } from "../yaml/problems.ts";
import type { StepDraft } from "./step-draft.ts";

/** Checks that each agent step gives what its agent's prompt reads. A step without inputs gets the whole state, so nothing can be said of it. */
export function checkPrompts(problems: Problems, steps: readonly StepDraft[]): void {
  for (const { id, kind, inputs, contract } of steps) {
    if (kind.type !== "agent" || kind.agent === undefined) continue;
    const given = [...inputs.map(({ name }) => name), ...contract.map(({ text }) => text)];
    const { agent, pipeline } = kind.agent;
    // The steps of a pipeline see nothing but what they are given.
    if (given.length === 0 && pipeline.length === 0) continue;
    for (const name of new Set(promptsOf(kind.agent).flatMap(inputsRead))) {
      if (!given.includes(name))
        problems.add(kind.name.offset, `the prompt of agent ${agent.agentId} reads an ${unknownName(`input`, name, given)} Step ${id.text} does not give it`);
    }
  }
}

/** Names of inputs that a prompt reads. */
export function inputsRead(text: string): string[] {
  const prompt = parseTemplate(text);
  if (!prompt.ok) return [];
  return templateReferences(prompt.value).flatMap(({ reference: [root, key] }) => (root?.name === "inputs" && key !== undefined ? [key.name] : []));
}

/** Every user message that an agent may render. */
export function promptsOf({ agent, pipeline }: LoadedAgent): string[] {
  const steps = pipeline.length === 0 ? [agent] : pipeline.flatMap((step) => ("model" in step ? step.model : []));
  return steps.flatMap(({ prompt, variants }) => [prompt, ...variants.map((variant) => variant.prompt)]);
}
