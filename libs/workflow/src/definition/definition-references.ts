import type { AgentSpec } from "@forge/protocol/session";
import type { WorkflowDefinition } from "@forge/protocol/workflow";

/** What a workflow needs to be served by somebody, each name once, in order of first use. */
export interface DefinitionReferences {
  readonly functions: readonly string[];
  /** Of tool steps and of agents. */
  readonly tools: readonly string[];
  readonly models: readonly string[];
}

type Found = Readonly<Record<keyof DefinitionReferences, Set<string>>>;

/** Collects the functions, tools and models that a definition and the workflows inside of it name. */
export function definitionReferences(definition: WorkflowDefinition): DefinitionReferences {
  const found = { functions: new Set<string>(), tools: new Set<string>(), models: new Set<string>() };
  collect(definition, found, new Set());
  return { functions: [...found.functions], tools: [...found.tools], models: [...found.models] };
}

/** A workflow that many steps name is looked at once. */
function collect(definition: WorkflowDefinition, found: Found, seen: Set<WorkflowDefinition>): void {
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
        if (kind.value.agent !== undefined) collectAgent(kind.value.agent, found);
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

/** Those that stand in for its model, and what the agents need that it calls. */
function collectAgent({ model, fallbackModels, tools, subAgents }: AgentSpec, found: Found): void {
  for (const tool of tools) found.tools.add(tool);
  for (const name of [model, ...fallbackModels]) found.models.add(name);
  for (const { agent } of subAgents) if (agent !== undefined) collectAgent(agent, found);
}
