import { readFile } from "node:fs/promises";
import path from "node:path";
import type { HookSpec } from "@forge/protocol/session";
import { type HooksConfig, hookSpecs, joinHooks, type McpConfig, parseHooks, parseMcpConfig } from "@forge/tools/configs";
import type { TrustState } from "../trust/workspace-trust.ts";

/** The texts of what a workspace, and a person, bring along; plain data, because it is told to another process. */
export interface WorkspaceCode {
  /** Of .mcp.json, as trust has looked at it; absent: there is none, or it is not trusted. */
  readonly mcp?: string;
  /** Of .forge/hooks.toml, likewise. */
  readonly hooks?: string;
  /** Of .forge/tests.toml, likewise. */
  readonly tests?: string;
  /** Of the person's own hooks.toml, which needs no trust. */
  readonly userHooks?: string;
}

const MCP_FILE = ".mcp.json";
const HOOKS_FILE = ".forge/hooks.toml";
const TESTS_FILE = ".forge/tests.toml";

/** Where a person's own settings are: `$XDG_CONFIG_HOME/forge` or `~/.config/forge`. */
export function configDirectoryOf(environment: Readonly<Record<string, string | undefined>>, home: string): string {
  const base = environment.XDG_CONFIG_HOME;
  return path.join(base !== undefined && path.isAbsolute(base) ? base : path.join(home, ".config"), "forge");
}

/** What may run of what a workspace brings, by what trust says of it, and what the person's own directory of settings has. */
export async function readWorkspaceCode(trust: Pick<TrustState, "state" | "texts">, configDirectory: string): Promise<WorkspaceCode> {
  const trusted = trust.state === "trusted" ? trust.texts : new Map<string, string>();
  return {
    mcp: trusted.get(MCP_FILE),
    hooks: trusted.get(HOOKS_FILE),
    tests: trusted.get(TESTS_FILE),
    userHooks: await textOf(path.join(configDirectory, "hooks.toml")),
  };
}

/** The servers that are to be started. */
export function mcpConfigOf({ mcp }: WorkspaceCode): McpConfig {
  return mcp === undefined ? { servers: [], problems: [] } : parseMcpConfig(mcp, MCP_FILE);
}

/** The hooks, the person's own first. */
export function hooksConfigOf({ hooks, userHooks }: WorkspaceCode): HooksConfig {
  return joinHooks([
    ...(userHooks === undefined ? [] : [parseHooks(userHooks, "~/.config/forge/hooks.toml", "user")]),
    ...(hooks === undefined ? [] : [parseHooks(hooks, HOOKS_FILE, "project")]),
  ]);
}

/** What the agent of a session in the workspace must be created with, so that hooks are called in its loop. */
export function sessionHooks(code: WorkspaceCode): HookSpec[] {
  return hookSpecs(hooksConfigOf(code).hooks);
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
