// Loading and checking workflows.

// Agents.
export { loadAgents } from "./agent/agent-registry.ts";
export type { AgentLookup, AgentSource, LoadedAgent } from "./agent/agent-source.ts";
export { type AgentDefaults, parseAgent } from "./agent/parse-agent.ts";
export { type DefinitionReferences, definitionReferences } from "./definition/definition-references.ts";
export { locateFunction } from "./definition/locate-function.ts";
export { type LoadedWorkflow, type ParseWorkflowOptions, parseWorkflow } from "./definition/parse-workflow.ts";
export { workflowHash } from "./definition/workflow-hash.ts";
// Inputs from a command line.
export { parseInputs } from "./inputs/parse-inputs.ts";
// Projects.
export type { RuntimeConfig } from "./project/config-schema.ts";
export { findProject } from "./project/find-project.ts";
export { openProject, type Project } from "./project/project.ts";
export { loadWorkflow, type ResolvedWorkflow, type ResolveOptions, resolveWorkflow } from "./project/resolve-workflow.ts";
export { toolPolicy } from "./project/tool-policy.ts";
export { listWorkflows, type WorkflowFile } from "./project/workflow-registry.ts";
