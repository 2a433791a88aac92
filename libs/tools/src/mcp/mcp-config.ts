import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { canonicalJson, sha256 } from "./canonical-json.ts";

/** A server as a file names it; values as they are written, nothing expanded. */
export type McpServer = StdioServer | HttpServer;

interface ServerPlace {
  /** The key in the file. */
  readonly name: string;
  /** Of the file, from 1. */
  readonly line: number;
  /** SHA-256 of what the file says of it: not of what variables and secrets stand for, which may change without it being another server. */
  readonly digest: string;
}

/** A program that speaks over its standard input and output. */
export interface StdioServer extends ServerPlace {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A server that speaks Streamable HTTP. */
export interface HttpServer extends ServerPlace {
  readonly kind: "http";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Something about a server, or a tool of one, that is not served. */
export interface McpProblem {
  /** Empty where it is about the whole file. */
  readonly server: string;
  /** In capitals, for example MCP_CONFIG. */
  readonly reason: string;
  /** For people, with the file and line where one is to be changed. */
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
}

/** What a file says. */
export interface McpConfig {
  readonly servers: readonly McpServer[];
  readonly problems: readonly McpProblem[];
}

const FILE_BYTES_MAX = 1024 * 1024;
const SERVERS_MAX = 64;
const TEXT_MAX = 8192;

const text = z.string().max(TEXT_MAX);
const texts = z.record(z.string().min(1).max(256), text);

// Other programs keep settings of their own in the same file: what is not known here is left alone. What they call allowed automatically is not, here.
const STDIO = z.object({ command: text.min(1), args: z.array(text).max(256).default([]), env: texts.default({}) });
const HTTP = z.object({ url: text.min(1), headers: texts.default({}) });

/**
 * Reads the text of a .mcp.json. What is wrong with one server leaves the others as they are. `file` is how the file is named in what is said about it.
 */
export function parseMcpConfig(source: string, file: string): McpConfig {
  const problem = (server: string, line: number, message: string): McpProblem => ({
    server,
    reason: "MCP_CONFIG",
    message: `${file}:${line}: ${message}`,
    file,
    line,
  });
  if (source.length > FILE_BYTES_MAX) return { servers: [], problems: [problem("", 1, `is larger than ${FILE_BYTES_MAX} bytes`)] };
  const lines = new LineCounter();
  // JSON is YAML, and this reader knows where everything stands. What YAML allows beyond JSON is refused by JSON.parse.
  const document = parseDocument(source, { lineCounter: lines, uniqueKeys: true, schema: "json" });
  const lineAt = (offset: number | undefined): number => (offset === undefined ? 1 : lines.linePos(offset).line);
  let json: unknown;
  try {
    json = JSON.parse(source);
  } catch (error) {
    const [first] = document.errors;
    return { servers: [], problems: [problem("", lineAt(first?.pos[0] ?? offsetIn(error)), `is not JSON: ${(error as Error).message}`)] };
  }
  const [duplicate] = document.errors;
  if (duplicate !== undefined)
    return { servers: [], problems: [problem("", lineAt(duplicate.pos[0]), `has a name twice: ${duplicate.message.split("\n")[0]}`)] };
  const entries = (json as { readonly mcpServers?: unknown } | null)?.mcpServers;
  if (typeof entries !== "object" || entries === null || Array.isArray(entries)) {
    return { servers: [], problems: [problem("", 1, 'must be an object with "mcpServers", an object of servers by name')] };
  }
  const names = Object.keys(entries);
  if (names.length > SERVERS_MAX) return { servers: [], problems: [problem("", 1, `names ${names.length} servers: at most ${SERVERS_MAX}`)] };

  const lineOf = (path: readonly (string | number)[]): number => {
    const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
    const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1))) : undefined;
    const node = pair?.key ?? document.getIn(path, true);
    return lineAt((node as { readonly range?: readonly number[] | null } | undefined)?.range?.[0]);
  };
  const servers: McpServer[] = [];
  const problems: McpProblem[] = [];
  for (const name of names) {
    const entry = (entries as Record<string, unknown>)[name];
    const line = lineOf(["mcpServers", name]);
    if (isDisabled(entry)) continue;
    const kind = kindOf(entry);
    if (kind === undefined) {
      problems.push(problem(name, line, `server ${JSON.stringify(name)} must have a command, or type "http" and a url${sseHint(entry)}`));
      continue;
    }
    const parsed = (kind === "stdio" ? STDIO : HTTP).safeParse(entry);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const path = (issue?.path ?? []).map((part) => (typeof part === "symbol" ? String(part) : part));
      const where = path.length === 0 ? line : lineOf(["mcpServers", name, ...path]);
      problems.push(problem(name, where, `server ${JSON.stringify(name)}: ${path.join(".") || "it"}: ${issue?.message}`));
      continue;
    }
    const digest = sha256(canonicalJson({ kind, ...parsed.data }));
    servers.push({ kind, name, line, digest, ...parsed.data } as McpServer);
  }
  return { servers, problems };
}

function isDisabled(entry: unknown): boolean {
  return (entry as { readonly disabled?: unknown } | null)?.disabled === true;
}

function kindOf(entry: unknown): McpServer["kind"] | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { type, command, url } = entry as { readonly type?: unknown; readonly command?: unknown; readonly url?: unknown };
  if ((type === undefined && command !== undefined) || type === "stdio") return "stdio";
  if ((type === undefined && url !== undefined) || type === "http" || type === "streamable-http") return "http";
  return undefined;
}

function sseHint(entry: unknown): string {
  const isSse = (entry as { readonly type?: unknown } | null)?.type === "sse";
  return isSse ? '; type "sse" is not supported: it was replaced by Streamable HTTP, "http"' : "";
}

/** Where JSON.parse says that it stopped. */
function offsetIn(error: unknown): number | undefined {
  const position = /position (\d+)/.exec((error as Error).message)?.[1];
  return position === undefined ? undefined : Number(position);
}
