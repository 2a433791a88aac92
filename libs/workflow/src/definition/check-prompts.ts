import { parseTemplate, templateReferences } from "@forge/domain";
import { type Problems, unknownName } from "../yaml/problems.ts";
import type { StepDraft } from "./step-draft.ts";

/** Checks that each agent step gives what its agent's prompt reads. A step without inputs gets the whole state, so nothing can be said of it. */
export function checkPrompts(problems: Problems, steps: readonly StepDraft[]): void {
  for (const { id, kind, inputs, contract } of steps) {
    if (kind.type !== "agent" || kind.agent === undefined) continue;
    const given = [...inputs.map(({ name }) => name), ...contract.map(({ text }) => text)];
    const prompt = parseTemplate(kind.agent.prompt);
    if (given.length === 0 || !prompt.ok) continue;
    const read = new Set(
      templateReferences(prompt.value).flatMap(({ reference: [root, key] }) => (root?.name === "inputs" && key !== undefined ? [key.name] : [])),
    );
    for (const name of read) {
      if (!given.includes(name))
        problems.add(
          kind.name.offset,
          `the prompt of agent ${kind.agent.agentId} reads an ${unknownName(`input`, name, given)} Step ${id.text} does not give it`,
        );
    }
  }
}
