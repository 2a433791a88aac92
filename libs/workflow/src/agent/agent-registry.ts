import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { TextLookup } from "../definition/definition-source.ts";
import type { SchemaSource } from "../definition/read-output-schema.ts";
import { compareVersions } from "../definition/version.ts";
import type { Project } from "../project/project.ts";
import { yamlFiles } from "../project/yaml-files.ts";
import { readTextFile } from "../read-text-file.ts";
import { peekIdentity } from "../yaml/peek-identity.ts";
import type { AgentSource, LoadedAgent, SubAgentLookup, SubAgentSource } from "./agent-source.ts";
import { AGENT_BYTES_MAX, AGENT_REASON, parseAgent } from "./parse-agent.ts";
import { type PromptEntry, parsePrompts } from "./prompt-library.ts";

interface AgentFile {
  readonly file: string;
  readonly id: string | undefined;
  readonly version: string | undefined;
  /** What is in it, or what is wrong with it. `above` are the files whose agents call this one, from the first on. */
  readonly content: (above: readonly AgentFile[]) => LoadedAgent | ForgeError;
}

/** Reads the agents of a project. A file with something wrong is only in the way of those who ask for its agent. Throws ForgeError where a file can't be read. */
export async function loadAgents(project: Project): Promise<AgentSource> {
  const files = await readAgents(project);
  return {
    find(id, version) {
      const lookup = find(files, id, version, []);
      if (lookup.kind === "circle") throw new Error("an agent that nobody calls closes no circle");
      return lookup;
    },
  };
}

async function readAgents(project: Project): Promise<readonly AgentFile[]> {
  const [paths, prompts] = await Promise.all([yamlFiles(project.agentsDir, { recursive: true }), readPrompts(project)]);
  const files: AgentFile[] = [];
  files.push(...(await Promise.all(paths.map((path) => readAgent(path, project, prompts, files)))));
  return files;
}

/** The prompts of the project, or what is wrong with them, which only those who name one have to know. */
async function readPrompts(project: Project): Promise<readonly PromptEntry[]> {
  const paths = await yamlFiles(project.promptsDir, { recursive: true });
  const files = await Promise.all(
    paths.map(async (path) =>
      parsePrompts(await readTextFile(path, { what: "prompts", bytesMax: AGENT_BYTES_MAX, reason: AGENT_REASON }), relative(project.root, path), AGENT_REASON),
    ),
  );
  return files.flat();
}

/** An agent file as lists show it; whether it is valid shows when it is used. */
export interface AgentEntry {
  readonly id: string;
  readonly version: string;
  /** From the project's root. */
  readonly file: string;
}

/** The agents of a project, by id and version. Files that name no agent are passed over. */
export async function listAgents(project: Project): Promise<AgentEntry[]> {
  const files = await readAgents(project);
  const named = files.flatMap(({ id, version, file }) => (id === undefined ? [] : [{ id, version: version ?? "", file }]));
  return named.toSorted((a, b) => (a.id === b.id ? compareVersions(a.version || "v0", b.version || "v0") : a.id < b.id ? -1 : 1));
}

/** `all` are the files in which the agents that it calls are looked for once it is parsed, which it is when it is first asked for. */
async function readAgent(path: string, project: Project, prompts: readonly PromptEntry[], all: readonly AgentFile[]): Promise<AgentFile> {
  const text = await readTextFile(path, { what: "agent", bytesMax: AGENT_BYTES_MAX, reason: AGENT_REASON });
  const file = relative(project.root, path);
  const { default_model: model, default_llm_provider: provider, llm } = project.config;
  const promptsFile = (named: string): readonly PromptEntry[] => readPromptsFile(named, path, project);
  const schemas: SchemaSource = { text: (named) => readSchemaFile(named, path, project) };
  // A circle is one from wherever it is entered, so that the first outcome holds for all.
  let known: LoadedAgent | ForgeError | undefined;
  const agentFile: AgentFile = {
    file,
    ...peekIdentity(text, "agent"),
    content(above) {
      if (known !== undefined) return known;
      const agents: SubAgentSource = { find: (id, version) => find(all, id, version, [...above, agentFile]) };
      try {
        known = parseAgent(text, { file, model, provider: provider ?? llm.default_provider, providers: llm.providers, prompts, promptsFile, agents, schemas });
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        known = error;
      }
      return known;
    },
  };
  return agentFile;
}

/** The file of a schema: from the project's root on, or with a dot from the agent's folder on, inside the project. */
function readSchemaFile(named: string, agentPath: string, project: Project): TextLookup {
  try {
    return { kind: "found", text: readProjectFile(resolve(/^\.\.?\//.test(named) ? dirname(agentPath) : project.root, named), named, project) };
  } catch (error) {
    if (error instanceof ForgeError) return { kind: "missing", message: error.message };
    throw error;
  }
}

/** The prompts in a file that an agent names, from the agent's folder on, inside the project. Throws ForgeError. */
function readPromptsFile(named: string, agentPath: string, project: Project): readonly PromptEntry[] {
  const path = resolve(dirname(agentPath), named);
  return parsePrompts(readProjectFile(path, named, project), relative(project.root, path), AGENT_REASON);
}

function readProjectFile(path: string, named: string, project: Project): string {
  const wrong = (message: string, cause?: unknown): ForgeError =>
    new ForgeError(ErrorCode.VALIDATION, message, { reason: AGENT_REASON, metadata: { file: path }, cause });
  try {
    const real = realpathSync(path);
    const inside = relative(realpathSync(project.root), real);
    if (inside.startsWith("..") || isAbsolute(inside)) throw wrong(`${named} lies outside of the project`);
    if (statSync(real).size > AGENT_BYTES_MAX) throw wrong(`${named} is larger than ${AGENT_BYTES_MAX} bytes`);
    return readFileSync(real).toString("utf8");
  } catch (error) {
    if (error instanceof ForgeError) throw error;
    throw wrong(`${named} can't be read (${error instanceof Error && "code" in error ? String(error.code) : String(error)})`, error);
  }
}

/** `above` are the files whose agents lead to the one that is looked for, by whom they call. */
function find(files: readonly AgentFile[], id: string, version: string | undefined, above: readonly AgentFile[]): SubAgentLookup {
  const named = files.filter((file) => file.id === id);
  const matching = version === undefined ? named : named.filter((file) => file.version === version);
  const latest = matching.toSorted((a, b) => compareVersions(a.version ?? "v0", b.version ?? "v0")).at(-1);
  if (latest === undefined) {
    const known = version === undefined || named.length === 0 ? files.flatMap((file) => file.id ?? []) : named.map((file) => `${id}@${file.version ?? "?"}`);
    return { kind: "unknown", known: Array.from(new Set(known)), unreadable: files.filter((file) => file.id === undefined).map(({ file }) => file) };
  }
  const from = above.indexOf(latest);
  if (from >= 0) return { kind: "circle", path: [...above.slice(from), latest].map((file) => `${file.id}@${file.version ?? "?"}`) };
  const content = latest.content(above);
  return content instanceof ForgeError ? { kind: "invalid", error: content } : { kind: "found", agent: content };
}
