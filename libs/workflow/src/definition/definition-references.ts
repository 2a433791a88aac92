import type { WorkflowDefinition } from "@forge/protocol/workflow";

/** What a workflow needs to be served by somebody, each name once, in order of first use. */
export interface DefinitionReferences {
  readonly functions: readonly string[];
  /** Of tool steps and of agents. */
  readonly tools: readonly string[];
  readonly models: readonly string[];
}

/** Collects the functions, tools and models that a definition names. */
export function definitionReferences(definition: WorkflowDefinition): DefinitionReferences {
  const [functions, tools, models] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const { kind } of definition.steps) {
    switch (kind.case) {
      case "function":
        functions.add(kind.value.name);
        break;
      case "tool":
        tools.add(kind.value.tool);
        break;
      case "agent":
        for (const tool of kind.value.agent?.tools ?? []) tools.add(tool);
        if (kind.value.agent !== undefined) models.add(kind.value.agent.model);
        break;
      case undefined:
        break;
    }
  }
  return { functions: [...functions], tools: [...tools], models: [...models] };
}
