// Loading and checking workflows.
export { definitionReferences, type DefinitionReferences } from "./definition/definition-references.ts";
export { type LoadedWorkflow, parseWorkflow, type ParseWorkflowOptions } from "./definition/parse-workflow.ts";
export { workflowHash } from "./definition/workflow-hash.ts";

// Agents.
export { loadAgents } from "./agent/agent-registry.ts";
export type { AgentLookup, AgentSource, LoadedAgent } from "./agent/agent-source.ts";
export { type AgentDefaults, parseAgent } from "./agent/parse-agent.ts";

// Projects.
export type { RuntimeConfig } from "./project/config-schema.ts";
export { findProject } from "./project/find-project.ts";
export { openProject, type Project } from "./project/project.ts";
export { loadWorkflow, type ResolvedWorkflow, type ResolveOptions, resolveWorkflow } from "./project/resolve-workflow.ts";
export { toolPolicy } from "./project/tool-policy.ts";
export { listWorkflows, type WorkflowFile } from "./project/workflow-registry.ts";

// Inputs from a command line.
export { parseInputs } from "./inputs/parse-inputs.ts";
