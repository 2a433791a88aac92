import { stat } from "node:fs/promises";
import type { ProjectServerOptions } from "@forge/host";
import { ForgeError } from "@forge/protocol";
import { openProject, type Project, retention } from "@forge/workflow/project";
import { findPython } from "./find-python.ts";
import { readProjectEnvironment } from "./project-environment.ts";

/** What a project's server is started with, from its configuration and the environment. */
export interface ProjectSettings {
  readonly project: Project;
  readonly databaseUrl?: string;
  /** The same database past the pooler in transaction mode that the URL goes through; absent: there is none. */
  readonly databaseDirectUrl?: string;
  readonly functionsDirectory?: string;
  readonly toolsDirectory?: string;
  /** The interpreter of its functions and tools in Python. */
  readonly python: string;
  /** What the project's own `.env` says. */
  readonly pythonEnvironment: Readonly<Record<string, string>>;
  readonly environment: NodeJS.ProcessEnv;
  /** What the built-in tools may do. */
  readonly tools: NonNullable<ProjectServerOptions["tools"]>;
  /** What becomes of runs that have ended; absent: they stay as they are. */
  readonly retention?: { readonly archiveAfterMs: number };
  readonly providers: NonNullable<ProjectServerOptions["providers"]>;
}

/**
 * Reads a project's settings; the environment wins over the project's `.env`, and that over `runtime.yaml`. Without `runsCode` nothing of it runs, and nothing that it says leads
 * anywhere: no functions and tools, no variables, no addresses of models and databases, no wider sandbox. Errors: validation, CONFIG_VALIDATION.
 */
export async function readProjectSettings(root: string, outer: NodeJS.ProcessEnv, { runsCode }: { readonly runsCode: boolean }): Promise<ProjectSettings> {
  const pythonEnvironment = runsCode ? await readProjectEnvironment(root) : {};
  const environment = { ...pythonEnvironment, ...outer };
  const project = await openProject(root, environment);
  const { db_path, llm } = project.config;
  const configured = runsCode && db_path !== undefined && isDatabaseUrl(db_path) ? db_path : undefined;
  const keyVariable = runsCode ? llm.providers.openai?.api_key_env : undefined;
  // A project's file is not asked where the server's data is: that is said by whoever starts it.
  const [named, direct] = (["DATABASE_URL", "DATABASE_DIRECT_URL"] as const).map((variable) => databaseUrlOf(outer, variable));
  if (direct !== undefined && named === undefined) {
    throw ForgeError.validation(
      "DATABASE_DIRECT_URL",
      "DATABASE_DIRECT_URL goes with DATABASE_URL, which is not set: set both, or only DATABASE_URL where no pooler is between",
      {
        reason: "CONFIG_VALIDATION",
      },
    );
  }
  const key = keyVariable === undefined ? undefined : environment[keyVariable];
  const [hasFunctions, hasTools] = runsCode ? await Promise.all([exists(project.functionsDir), exists(project.toolsDir)]) : [false, false];
  return {
    project,
    databaseUrl: named ?? configured,
    databaseDirectUrl: direct,
    functionsDirectory: hasFunctions || hasTools ? project.functionsDir : undefined,
    toolsDirectory: hasTools ? project.toolsDir : undefined,
    python: await findPython(root, environment),
    pythonEnvironment,
    environment: key === undefined ? environment : { OPENAI_API_KEY: key, ...environment },
    tools: runsCode ? toolsOf(project, environment) : {},
    retention: retention(project.config),
    providers: runsCode ? providersOf(project) : {},
  };
}

function providersOf({ config }: Project): ProjectSettings["providers"] {
  const baseUrl = (name: string): { readonly baseUrl?: string } => ({ baseUrl: config.llm.providers[name]?.base_url });
  return { openai: baseUrl("openai"), ollama: baseUrl("ollama"), anthropic: baseUrl("anthropic"), google: baseUrl("google") };
}

function toolsOf({ config }: Project, environment: NodeJS.ProcessEnv): ProjectSettings["tools"] {
  const { shell_allowlist: allow, shell_denylist: deny, sandbox, http, mcp } = config;
  return {
    programs: { allow, deny },
    sandbox: { policy: sandbox.policy, readable: sandbox.readable, writable: sandbox.writable, network: { allow: sandbox.network } },
    variables: chosen(environment, mcp.variables),
    http: {
      hosts: http.allow === undefined && http.deny.length === 0 ? undefined : { allow: http.allow ?? ["*"], deny: http.deny },
      secretHosts: http.secret_hosts,
    },
  };
}

/** The variables of these names, or with these beginnings. */
function chosen(environment: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  const isChosen = (variable: string): boolean => names.some((name) => (name.endsWith("*") ? variable.startsWith(name.slice(0, -1)) : variable === name));
  return Object.fromEntries(Object.entries(environment).flatMap(([variable, value]) => (value !== undefined && isChosen(variable) ? [[variable, value]] : [])));
}

/** Where the data is, for people: never with a password. */
export function describeDatabase(databaseUrl: string | undefined): string {
  if (databaseUrl === undefined) return "embedded PostgreSQL";
  if (!URL.canParse(databaseUrl)) return "PostgreSQL of DATABASE_URL";
  const { host, pathname } = new URL(databaseUrl);
  return `PostgreSQL ${host}${pathname}`;
}

function databaseUrlOf(environment: NodeJS.ProcessEnv, variable: "DATABASE_URL" | "DATABASE_DIRECT_URL"): string | undefined {
  const url = environment[variable] || undefined;
  if (url === undefined || (isDatabaseUrl(url) && URL.canParse(url))) return url;
  throw ForgeError.validation(variable, `${variable} is no URL of a PostgreSQL: write postgres://user:password@host/database`, { reason: "CONFIG_VALIDATION" });
}

function isDatabaseUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(text);
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}
