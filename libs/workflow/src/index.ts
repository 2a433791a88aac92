// Loading and checking workflows.

// Agents.
export { type AgentEntry, listAgents, loadAgents } from "./agent/agent-registry.ts";
export type { AgentLookup, AgentSource, LoadedAgent } from "./agent/agent-source.ts";
export { type AgentDefaults, parseAgent } from "./agent/parse-agent.ts";
export { type DefinitionReferences, definitionReferences } from "./definition/definition-references.ts";
export type { LoadedWorkflow } from "./definition/loaded-workflow.ts";
export { locateFunction } from "./definition/locate-function.ts";
export { type ParseWorkflowOptions, parseWorkflow } from "./definition/parse-workflow.ts";
export { workflowHash } from "./definition/workflow-hash.ts";
// What became of a run.
export { END, type GraphEdge, type GraphNode, type RunGraph, runGraph } from "./drawing/run-graph.ts";
export { runPage } from "./drawing/run-page.ts";
export { type Timeline, type TimelineBar, timeline } from "./drawing/timeline.ts";
export { diffJson, type StateChange } from "./history/json-diff.ts";
export { type Lifecycle, type LifecycleEvent, type LifecycleName, lifecycle } from "./history/lifecycle.ts";
export { type ReadValue, type State, type StateVersion, type StepStates, stateAt, stateHistory, stepStates, valuesOf } from "./history/state-history.ts";
// Inputs from a command line.
export { parseInputs } from "./inputs/parse-inputs.ts";
export { checkFunctions } from "./project/check-functions.ts";
export { checkPython, checkPythonWorkflow } from "./project/check-python.ts";
// Projects.
export type { ConfigPlace } from "./project/config-file.ts";
export type { RuntimeConfig } from "./project/config-schema.ts";
export { type ConfigField, type ConfigOrigin, type ConfigOverride, explainConfig } from "./project/explain-config.ts";
export { findProject } from "./project/find-project.ts";
export { overwritePolicy } from "./project/overwrite-policy.ts";
export { openProject, type Project } from "./project/project.ts";
export { loadWorkflow, type ResolvedWorkflow, type ResolveOptions, resolveWorkflow } from "./project/resolve-workflow.ts";
export { retention } from "./project/retention.ts";
export { toolPolicy } from "./project/tool-policy.ts";
export { listWorkflows, type WorkflowFile } from "./project/workflow-registry.ts";
