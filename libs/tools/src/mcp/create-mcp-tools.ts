import type { TaskHandler } from "@forge/worker";
import { childEnvironment } from "../process/environment.ts";
import type { PipelineOptions } from "../tools/tool-pipeline.ts";
import { canonicalJson } from "./canonical-json.ts";
import { expandValue, type ValueSource } from "./expand-value.ts";
import { namePart } from "./mcp-catalogue.ts";
import { type McpConfig, type McpProblem, type McpServer } from "./mcp-config.ts";
import type { McpLink, ResolvedEndpoint } from "./mcp-link.ts";
import type { McpTokens } from "./mcp-tokens.ts";
import { mcpToolHandler, type ServedTools } from "./mcp-tool.ts";

/** What the tools of MCP servers need. */
export interface McpToolsOptions extends ValueSource {
  readonly config: McpConfig;
  /** Where programs run; the workspace. */
  readonly workspace: string;
  /** Puts a program into a sandbox; absent: it runs as it is, in a process tree of its own. */
  readonly wrap?: (argv: readonly string[]) => Promise<readonly string[]> | readonly string[];
  /** Logins of HTTP servers; absent: none. */
  readonly tokens?: McpTokens;
  /** What is added to the layers around every call; an observed workspace, for example. */
  readonly pipeline?: PipelineOptions;
  /** The longest that one call may take; absent: 60 s. */
  readonly timeoutMs?: number;
}

/** Tools of MCP servers. */
export interface McpTools {
  /** Resolves once every server has listed its tools, or could not the first time. Servers that could not are tried again. */
  readonly ready: Promise<void>;
  /** What is served now, in order of name; the same objects as long as it is the same. */
  readonly handlers: () => readonly TaskHandler[];
  /** What is not served, and why. */
  readonly problems: () => readonly McpProblem[];
  /** Calls a listener after what is served, or what is wrong, has changed. Returns what ends that. */
  readonly onChange: (listener: () => void) => () => void;
  /** Ends all servers. */
  close(): Promise<void>;
}

const TIMEOUT_MS_DEFAULT = 60_000;
/** Of a server's part in names, so that there is room for the tool's. */
const SERVER_PART_MAX = 48;

/** Starts the servers of a configuration and serves their tools as mcp.<server>.<tool>. Whether they may be started at all is the caller's to know. */
export function createMcpTools(options: McpToolsOptions): McpTools {
  const { config, timeoutMs = TIMEOUT_MS_DEFAULT, pipeline } = options;
  const served: ServedTools = new Map();
  const links: McpLink[] = [];
  const listeners = new Set<() => void>();
  let isClosed = false;
  let current: readonly TaskHandler[] = [];
  let shape = canonicalJson([]);

  const refresh = (): void => {
    const tools = links.flatMap((link) => link.catalogue.tools.map((tool) => ({ link, tool })));
    const now = canonicalJson(tools.map(({ link, tool }) => [link.server.digest, tool]));
    if (now !== shape) {
      shape = now;
      const handlers = tools.map(({ link, tool }) => mcpToolHandler(link, tool, { timeoutMs, served, pipeline }));
      current = handlers.sort((a, b) => (a.capability.name < b.capability.name ? -1 : 1));
    }
    for (const listener of listeners) listener();
  };

  const start = async (): Promise<void> => {
    if (config.servers.length === 0) return;
    // Most projects have no servers, and shall not wait for the client to be loaded.
    const { McpLink: Link } = await import("./mcp-link.ts");
    if (isClosed) return;
    for (const server of config.servers) {
      links.push(new Link({ server, serverPart: namePart(server.name, SERVER_PART_MAX), resolve: () => resolveEndpoint(server, options), onChange: refresh }));
    }
    await Promise.all(links.map((link) => link.start()));
  };
  const ready = start();

  return {
    ready,
    handlers: () => current,
    problems: () => [...config.problems, ...links.flatMap((link) => link.problems)],
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      isClosed = true;
      await Promise.all(links.map((link) => link.close()));
    },
  };
}

/** Where a server is, with everything expanded. Throws an Error, for people, naming the place in the configuration. */
async function resolveEndpoint(server: McpServer, options: McpToolsOptions): Promise<ResolvedEndpoint> {
  const secrets: string[] = [];
  const expand = (text: string, where: string): string => {
    try {
      const expanded = expandValue(text, options);
      secrets.push(...expanded.secrets);
      return expanded.value;
    } catch (error) {
      throw new Error(`line ${server.line}: ${where}: ${(error as Error).message}`, { cause: error });
    }
  };
  const expandAll = (values: Readonly<Record<string, string>>, where: string): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, expand(value, `${where}.${key}`)]));
  if (server.kind === "stdio") {
    const argv = [expand(server.command, "command"), ...server.args.map((arg, index) => expand(arg, `args.${index}`))];
    const environment = childEnvironment(expandAll(server.env, "env"), options.environment);
    return { endpoint: { kind: "stdio", command: (await options.wrap?.(argv)) ?? argv, cwd: options.workspace, environment }, secrets };
  }
  const headers = expandAll(server.headers, "headers");
  const url = URL.parse(expand(server.url, "url"));
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) throw new Error(`line ${server.line}: url: must be an http or https URL`);
  const ownCredential = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  const authProvider = ownCredential ? undefined : await options.tokens?.provider(server.name, url);
  return { endpoint: { kind: "http", url, headers, authProvider }, secrets };
}
