import type { WorkflowDefinition } from "@forge/protocol/workflow";

/** What a workflow needs to be served by somebody, each name once, in order of first use. */
export interface DefinitionReferences {
  readonly functions: readonly string[];
  /** Of tool steps and of agents. */
  readonly tools: readonly string[];
  readonly models: readonly string[];
}

/** Collects the functions, tools and models that a definition and the workflows inside of it name. */
export function definitionReferences(definition: WorkflowDefinition): DefinitionReferences {
  const found = { functions: new Set<string>(), tools: new Set<string>(), models: new Set<string>() };
  collect(definition, found, new Set());
  return { functions: [...found.functions], tools: [...found.tools], models: [...found.models] };
}

/** A workflow that many steps name is looked at once. */
function collect(definition: WorkflowDefinition, found: Readonly<Record<keyof DefinitionReferences, Set<string>>>, seen: Set<WorkflowDefinition>): void {
  if (seen.has(definition)) return;
  seen.add(definition);
  for (const { kind } of definition.steps) {
    switch (kind.case) {
      case "function":
        found.functions.add(kind.value.name);
        break;
      case "tool":
        found.tools.add(kind.value.tool);
        break;
      case "agent":
        for (const tool of kind.value.agent?.tools ?? []) found.tools.add(tool);
        if (kind.value.agent !== undefined) found.models.add(kind.value.agent.model);
        break;
      case "workflow":
        if (kind.value.definition !== undefined) collect(kind.value.definition, found, seen);
        break;
      case "wait":
      case undefined:
        break;
    }
  }
}
