import type { WorkflowDefinition } from "@forge/protocol/workflow";
import type { Problems } from "../yaml/problems.ts";
import { unknownName } from "../yaml/problems.ts";
import type { YamlText } from "../yaml/yaml-reader.ts";
import type { DefinitionSource } from "./definition-source.ts";
import type { StepDraft } from "./step-draft.ts";

/** The workflow that a step names, whole, so that the run keeps what the file said when it began. */
export function resolveSubWorkflow(problems: Problems, name: YamlText, source: DefinitionSource): WorkflowDefinition | undefined {
  const lookup = source.workflow(name.text);
  switch (lookup.kind) {
    case "found":
      problems.warnings.push(...lookup.workflow.warnings.filter((warning) => !problems.warnings.includes(warning)));
      return lookup.workflow.definition;
    case "invalid":
      problems.addFrom(lookup.error);
      return undefined;
    case "missing":
      problems.add(name.offset, lookup.message);
      return undefined;
    case "pending":
      return undefined;
  }
}

/** Checks that each workflow step gives the inputs that the other workflow asks for, and no others. */
export function checkSubWorkflows(problems: Problems, steps: readonly StepDraft[]): void {
  for (const { id, kind, inputs, contract } of steps) {
    if (kind.type !== "workflow" || kind.definition === undefined) continue;
    const declared = new Map(kind.definition.inputs.map((input) => [input.name, input]));
    for (const input of [...inputs.map(({ name, offset }) => ({ text: name, offset })), ...contract]) {
      if (!declared.has(input.text)) problems.add(input.offset, unknownName(`input of workflow ${kind.definition.id}`, input.text, declared.keys()));
    }
    const given = new Set([...inputs.map(({ name }) => name), ...contract.map(({ text }) => text)]);
    for (const { name, required, defaultJson } of declared.values()) {
      if (required && defaultJson === undefined && !given.has(name))
        problems.add(kind.name.offset, `workflow ${kind.definition.id} requires the input \`${name}\`; step ${id.text} does not give it`);
    }
  }
}
