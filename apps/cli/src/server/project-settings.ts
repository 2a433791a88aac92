import { stat } from "node:fs/promises";
import { ForgeError } from "@forge/protocol";
import { openProject, type Project, retention } from "@forge/workflow";
import { findPython } from "./find-python.ts";
import { readProjectEnvironment } from "./project-environment.ts";

/** What a project's server is started with, from its configuration and the environment. */
export interface ProjectSettings {
  readonly project: Project;
  readonly databaseUrl?: string;
  readonly functionsDirectory?: string;
  readonly toolsDirectory?: string;
  /** The interpreter of its functions and tools in Python. */
  readonly python: string;
  /** What the project's own `.env` says. */
  readonly pythonEnvironment: Readonly<Record<string, string>>;
  readonly environment: NodeJS.ProcessEnv;
  /** What tools.shell may run. */
  readonly programs: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** What becomes of runs that have ended; absent: they stay as they are. */
  readonly retention?: { readonly archiveAfterMs: number };
  readonly providers: Readonly<Record<"openai" | "ollama", { readonly baseUrl?: string }>>;
}

/** Reads a project's settings; the environment wins over the project's `.env`, and that over `runtime.yaml`. Errors: validation, CONFIG_VALIDATION. */
export async function readProjectSettings(root: string, outer: NodeJS.ProcessEnv): Promise<ProjectSettings> {
  const pythonEnvironment = await readProjectEnvironment(root);
  const environment = { ...pythonEnvironment, ...outer };
  const project = await openProject(root, environment);
  const { db_path, llm } = project.config;
  const configured = db_path !== undefined && isDatabaseUrl(db_path) ? db_path : undefined;
  const keyVariable = llm.providers.openai?.api_key_env;
  // A project's file is not asked where the server's data is: that is said by whoever starts it.
  const named = outer.DATABASE_URL || undefined;
  if (named !== undefined && !(isDatabaseUrl(named) && URL.canParse(named))) {
    throw ForgeError.validation("DATABASE_URL", "DATABASE_URL is no URL of a PostgreSQL: write postgres://user:password@host/database", {
      reason: "CONFIG_VALIDATION",
    });
  }
  const key = keyVariable === undefined ? undefined : environment[keyVariable];
  const [hasFunctions, hasTools] = await Promise.all([exists(project.functionsDir), exists(project.toolsDir)]);
  return {
    project,
    databaseUrl: named ?? configured,
    functionsDirectory: hasFunctions || hasTools ? project.functionsDir : undefined,
    toolsDirectory: hasTools ? project.toolsDir : undefined,
    python: await findPython(root, environment),
    pythonEnvironment,
    environment: key === undefined ? environment : { OPENAI_API_KEY: key, ...environment },
    programs: { allow: project.config.shell_allowlist, deny: project.config.shell_denylist },
    retention: retention(project.config),
    providers: { openai: { baseUrl: llm.providers.openai?.base_url }, ollama: { baseUrl: llm.providers.ollama?.base_url } },
  };
}

/** Where the data is, for people: never with a password. */
export function describeDatabase(databaseUrl: string | undefined): string {
  if (databaseUrl === undefined) return "embedded PostgreSQL";
  if (!URL.canParse(databaseUrl)) return "PostgreSQL of DATABASE_URL";
  const { host, pathname } = new URL(databaseUrl);
  return `PostgreSQL ${host}${pathname}`;
}

function isDatabaseUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(text);
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}
