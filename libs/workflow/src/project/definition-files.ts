import { dirname, relative, resolve, sep } from "node:path";
import { ForgeError } from "@forge/protocol";
import type { WorkflowDefinition } from "@forge/protocol/workflow";
import type { AgentSource } from "../agent/agent-source.ts";
import type { DefinitionSource, TextLookup, WorkflowLookup } from "../definition/definition-source.ts";
import type { LoadedWorkflow } from "../definition/loaded-workflow.ts";
import { parseWorkflow, WORKFLOW_BYTES_MAX } from "../definition/parse-workflow.ts";
import { readTextFile } from "../read-text-file.ts";
import { peekIdentity } from "../yaml/peek-identity.ts";
import { clip } from "../yaml/problems.ts";
import type { Project } from "./project.ts";
import { findWorkflow } from "./workflow-registry.ts";

/** How deep workflows may lie in each other. */
const DEPTH_MAX = 8;
const REASON = "WORKFLOW_VALIDATION";

/** A file on the way from the workflow that is loaded to the one that is read. */
interface Link {
  readonly path: string;
  readonly id: string;
}

/**
 * Loads a project's workflow with everything that it names. Reading is asynchronous and parsing is not: a parse that needs a file which has not been read yet
 * is done again once it has, at most once for each level of workflows.
 */
export class DefinitionFiles {
  readonly #project: Project;
  readonly #agents: AgentSource;
  /** By reference: the workflow's path, or why there is none. */
  readonly #paths = new Map<string, string | ForgeError>();
  /** By path: the text, or why there is none. */
  readonly #texts = new Map<string, string | ForgeError>();
  readonly #loaded = new Map<string, { readonly workflow: LoadedWorkflow; readonly depth: number }>();
  readonly #wantedReferences = new Set<string>();
  readonly #wantedTexts = new Set<string>();

  constructor(project: Project, agents: AgentSource) {
    this.#project = project;
    this.#agents = agents;
  }

  /** Loads the workflow in a file. Throws ForgeError: not_found; validation with WORKFLOW_VALIDATION or AGENT_VALIDATION; unsupported. */
  async load(path: string): Promise<LoadedWorkflow> {
    const text = await readTextFile(path, { what: "workflow", bytesMax: WORKFLOW_BYTES_MAX, reason: REASON });
    const chain = [{ path, id: peekIdentity(text, "workflow").id ?? relative(this.#project.root, path) }];
    for (;;) {
      const outcome = this.#parse(text, chain);
      if (!(await this.#fetch())) {
        if (outcome instanceof ForgeError) throw outcome;
        return outcome;
      }
    }
  }

  #parse(text: string, chain: readonly Link[]): LoadedWorkflow | ForgeError {
    const { path } = chain.at(-1) as Link;
    try {
      return parseWorkflow(text, { file: relative(this.#project.root, path), agents: this.#agents, source: this.#sourceOf(chain) });
    } catch (error) {
      if (error instanceof ForgeError) return error;
      throw error;
    }
  }

  /** What the last file of a chain may name. */
  #sourceOf(chain: readonly Link[]): DefinitionSource {
    const directory = dirname((chain.at(-1) as Link).path);
    return {
      workflow: (reference) => this.#workflow(reference, directory, chain),
      text: (path) => this.#text(this.#locate(path, directory)),
    };
  }

  #workflow(reference: string, directory: string, chain: readonly Link[]): WorkflowLookup {
    const path = /\.ya?ml$/.test(reference) ? this.#locate(reference, directory) : this.#paths.get(reference);
    if (path === undefined) {
      this.#wantedReferences.add(reference);
      return { kind: "pending" };
    }
    if (path instanceof ForgeError) return { kind: "missing", message: path.message };
    const names = chain.map(({ id }) => id);
    const from = chain.findIndex((link) => link.path === path);
    if (from >= 0)
      return { kind: "missing", message: `workflows that contain each other: ${[...names.slice(from), names[from]].join(" -> ")}; expected an end to it` };
    const known = this.#loaded.get(path);
    if (chain.length + (known?.depth ?? 0) > DEPTH_MAX)
      return { kind: "missing", message: `workflows are nested more than ${DEPTH_MAX} deep: ${names.join(" -> ")} -> ${clip(reference)}` };
    if (known !== undefined) return { kind: "found", workflow: known.workflow };
    const text = this.#text(path);
    if (text.kind !== "found") return text;
    const outcome = this.#parse(text.text, [...chain, { path, id: peekIdentity(text.text, "workflow").id ?? reference }]);
    if (this.#isWaiting) return { kind: "pending" };
    if (outcome instanceof ForgeError) return { kind: "invalid", error: outcome };
    this.#loaded.set(path, { workflow: outcome, depth: depthOf(outcome.definition) });
    return { kind: "found", workflow: outcome };
  }

  #text(path: string | ForgeError): TextLookup {
    if (path instanceof ForgeError) return { kind: "missing", message: path.message };
    const text = this.#texts.get(path);
    if (text === undefined) {
      this.#wantedTexts.add(path);
      return { kind: "pending" };
    }
    return text instanceof ForgeError ? { kind: "missing", message: text.message } : { kind: "found", text };
  }

  /** Paths begin at the project's root, or, with a dot, at the file that names them; they stay inside the project. */
  #locate(written: string, directory: string): string | ForgeError {
    const path = resolve(/^\.\.?\//.test(written) ? directory : this.#project.root, written);
    if (path.startsWith(this.#project.root + sep)) return path;
    return ForgeError.validation("path", `\`${clip(written)}\` lies outside of the project ${this.#project.root}`, { reason: REASON });
  }

  get #isWaiting(): boolean {
    return this.#wantedReferences.size + this.#wantedTexts.size > 0;
  }

  /** Reads what was missing; whether there was anything. */
  async #fetch(): Promise<boolean> {
    if (!this.#isWaiting) return false;
    for (const reference of this.#wantedReferences) this.#paths.set(reference, await settled(async () => (await findWorkflow(this.#project, reference)).path));
    const options = { what: "file", bytesMax: WORKFLOW_BYTES_MAX, reason: REASON };
    for (const path of this.#wantedTexts) this.#texts.set(path, await settled(async () => await readTextFile(path, options)));
    this.#wantedReferences.clear();
    this.#wantedTexts.clear();
    return true;
  }
}

async function settled(work: () => Promise<string>): Promise<string | ForgeError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ForgeError) return error;
    throw error;
  }
}

/** How many workflows lie in each other below a definition. */
function depthOf(definition: WorkflowDefinition): number {
  const inner = new Set(
    definition.steps.flatMap(({ kind }) => (kind.case === "workflow" && kind.value.definition !== undefined ? [kind.value.definition] : [])),
  );
  return Array.from(inner).reduce((depth, nested) => Math.max(depth, 1 + depthOf(nested)), 0);
}
