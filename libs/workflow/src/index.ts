// Loading and checking workflows.

// Agents.
export { type AgentEntry, listAgents, loadAgents } from "./agent/agent-registry.ts";
export type { AgentLookup, AgentSource, LoadedAgent } from "./agent/agent-source.ts";
export { type AgentDefaults, parseAgent } from "./agent/parse-agent.ts";
export { type DefinitionReferences, definitionReferences } from "./definition/definition-references.ts";
export { locateFunction } from "./definition/locate-function.ts";
export { type LoadedWorkflow, type ParseWorkflowOptions, parseWorkflow } from "./definition/parse-workflow.ts";
export { workflowHash } from "./definition/workflow-hash.ts";
// What became of a run.
export { END, type GraphEdge, type GraphNode, type RunGraph, runGraph } from "./drawing/run-graph.ts";
export { runPage } from "./drawing/run-page.ts";
export { type Timeline, type TimelineBar, timeline } from "./drawing/timeline.ts";
export { diffJson, type StateChange } from "./history/json-diff.ts";
export { type ReadValue, type State, type StateVersion, stateAt, stateHistory, valuesOf } from "./history/state-history.ts";
// Inputs from a command line.
export { parseInputs } from "./inputs/parse-inputs.ts";
export { checkFunctions } from "./project/check-functions.ts";
// Projects.
export type { RuntimeConfig } from "./project/config-schema.ts";
export { findProject } from "./project/find-project.ts";
export { openProject, type Project } from "./project/project.ts";
export { loadWorkflow, type ResolvedWorkflow, type ResolveOptions, resolveWorkflow } from "./project/resolve-workflow.ts";
export { toolPolicy } from "./project/tool-policy.ts";
export { listWorkflows, type WorkflowFile } from "./project/workflow-registry.ts";
