import { dirname, join, resolve } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { loadAgents } from "../agent/agent-registry.ts";
import { agentWorkflow } from "../agent/agent-workflow.ts";
import type { LoadedWorkflow } from "../definition/loaded-workflow.ts";
import { parseReference } from "../definition/reference.ts";
import { workflowHash } from "../definition/workflow-hash.ts";
import { checkModelLimits } from "./check-model-limits.ts";
import { DefinitionFiles } from "./definition-files.ts";
import { exists, findProject, isProject } from "./find-project.ts";
import { openProject, type Project } from "./project.ts";
import { findDefaultWorkflow, findWorkflow } from "./workflow-registry.ts";

/** A workflow together with the project that its agents, functions and configuration come from. */
export interface ResolvedWorkflow extends LoadedWorkflow {
  readonly project: Project;
  /** The file's absolute path. */
  readonly path: string;
}

export interface ResolveOptions {
  /** Where relative paths begin, and where the project of an id is looked for. */
  readonly directory: string;
  /** The project to look ids up in, where a person named one. */
  readonly project?: Project | undefined;
  /** Names of the inputs that an agent which is run by its own id is given. */
  readonly inputs?: readonly string[];
}

/**
 * Finds, loads and checks what a person names: a YAML file, a directory that is a project (its `default_workflow` or only workflow), or an id or id@version in
 * the current project, of an agent before that of a workflow. Throws ForgeError: not_found; validation with WORKFLOW_VALIDATION, AGENT_VALIDATION or CONFIG_VALIDATION; unsupported.
 */
export async function resolveWorkflow(reference: string, { directory, project, inputs = [] }: ResolveOptions): Promise<ResolvedWorkflow> {
  const path = resolve(directory, reference);
  if (/\.ya?ml$/.test(reference)) return loadFrom(await projectOf(dirname(path), project), path);
  const isPlainId = parseReference(reference) !== undefined;
  const current = project ?? (await openNearest(directory));
  if (isPlainId && current !== undefined) {
    const agent = await findAgent(current, reference, inputs);
    if (agent !== undefined) return agent;
    const isDirectory = await isProjectDirectory(path);
    try {
      return await loadFrom(current, (await findWorkflow(current, reference)).path);
    } catch (error) {
      // A directory's name may look like an id.
      if (!(isDirectory && error instanceof ForgeError && error.code === ErrorCode.NOT_FOUND)) throw error;
    }
  }
  if (await isProjectDirectory(path)) {
    const named = await openProject(path);
    return loadFrom(named, (await findDefaultWorkflow(named)).path);
  }
  const advice = isPlainId
    ? "name a file or a directory, or go to a directory with runtime.yaml"
    : "a reference is a YAML file, a project's directory, an id or id@v1";
  throw new ForgeError(ErrorCode.NOT_FOUND, `there is no workflow ${reference} at ${path}; ${advice}`, {
    reason: "WORKFLOW_NOT_FOUND",
    metadata: { file: path },
  });
}

/** Loads one workflow file of a project, with the workflows, agents and schemas that it names. */
export async function loadWorkflow(project: Project, path: string): Promise<LoadedWorkflow> {
  const loaded = await new DefinitionFiles(project, await loadAgents(project)).load(path);
  checkModelLimits(loaded.definition, project);
  return loaded;
}

/** An agent of that id, which stands before a workflow of the same, as a workflow of its own. Undefined: there is none. Throws ForgeError where something is wrong with it. */
async function findAgent(project: Project, reference: string, inputs: readonly string[]): Promise<ResolvedWorkflow | undefined> {
  const parsed = parseReference(reference);
  if (parsed === undefined) return undefined;
  const lookup = (await loadAgents(project)).find(parsed.id, parsed.version);
  if (lookup.kind === "unknown") return undefined;
  if (lookup.kind === "invalid") throw lookup.error;
  const definition = agentWorkflow(lookup.agent, inputs);
  checkModelLimits(definition, project);
  const { warnings } = lookup.agent;
  return { definition, hash: workflowHash(definition), file: "", warnings, project, path: project.agentsDir };
}

async function loadFrom(project: Project, path: string): Promise<ResolvedWorkflow> {
  return { ...(await loadWorkflow(project, path)), project, path };
}

async function openNearest(directory: string): Promise<Project | undefined> {
  const root = await findProject(directory);
  return root === undefined ? undefined : openProject(root);
}

/** The project of a file: the one that was named, the nearest above it, or else the directory that it lies in (the one above, in a `workflows` directory). */
async function projectOf(directory: string, named: Project | undefined): Promise<Project> {
  if (named !== undefined) return named;
  return (await openNearest(directory)) ?? openProject(directory.endsWith("/workflows") ? dirname(directory) : directory);
}

async function isProjectDirectory(path: string): Promise<boolean> {
  return (await exists(path, "directory")) && ((await isProject(path)) || (await exists(join(path, "workflows"), "directory")));
}
