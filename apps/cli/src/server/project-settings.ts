import { stat } from "node:fs/promises";
import { ForgeError } from "@forge/protocol";
import { openProject, type Project } from "@forge/workflow";

/** What a project's server is started with, from its configuration and the environment. */
export interface ProjectSettings {
  readonly project: Project;
  readonly databaseUrl?: string;
  readonly functionsDirectory?: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly providers: Readonly<Record<"openai" | "ollama", { readonly baseUrl?: string }>>;
}

/** Reads a project's settings; the environment wins over `runtime.yaml`. Errors: validation, CONFIG_VALIDATION. */
export async function readProjectSettings(root: string, environment: NodeJS.ProcessEnv): Promise<ProjectSettings> {
  const project = await openProject(root);
  const { db_path, llm } = project.config;
  const configured = db_path !== undefined && isDatabaseUrl(db_path) ? db_path : undefined;
  const keyVariable = llm.providers.openai?.api_key_env;
  const named = environment.DATABASE_URL || undefined;
  if (named !== undefined && !(isDatabaseUrl(named) && URL.canParse(named))) {
    throw ForgeError.validation("DATABASE_URL", "DATABASE_URL is no URL of a PostgreSQL: write postgres://user:password@host/database", {
      reason: "CONFIG_VALIDATION",
    });
  }
  const key = keyVariable === undefined ? undefined : environment[keyVariable];
  return {
    project,
    databaseUrl: named ?? configured,
    functionsDirectory: (await exists(project.functionsDir)) ? project.functionsDir : undefined,
    environment: key === undefined ? environment : { OPENAI_API_KEY: key, ...environment },
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
