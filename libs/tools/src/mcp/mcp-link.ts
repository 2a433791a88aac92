import { setTimeout as delay } from "node:timers/promises";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { createScrubber } from "../secrets/scrubber.ts";
import type { JsonValue, ToolCall } from "../tools/tool-definition.ts";
import { canonicalJson } from "./canonical-json.ts";
import { McpCalls } from "./mcp-calls.ts";
import { type Catalogue, type CatalogueTool, catalogueOf, describeChange, type ListedTool } from "./mcp-catalogue.ts";
import type { McpProblem, McpServer } from "./mcp-config.ts";
import { mcpError, toolChanged } from "./mcp-errors.ts";
import { outputOf, textOf } from "./mcp-output.ts";
import { type McpEndpoint, type McpSession, openSession } from "./mcp-session.ts";
import { scrubJson } from "./scrub-json.ts";

const RESTART_MS_MIN = 250;
const RESTART_MS_MAX = 60_000;
/** A server that ran for so long counts as one that works: its next restart does not wait for long. */
const STABLE_MS = 30_000;
/** How long a call waits for a server that is being started anew. */
const UNAVAILABLE_MS_MAX = 15_000;

const CAUSES_MAX = 8;

/** Where a server is, and what of it must never be shown. */
export interface ResolvedEndpoint {
  readonly endpoint: McpEndpoint;
  readonly secrets: readonly string[];
}

/** What a link is made of. */
export interface McpLinkOptions {
  readonly server: McpServer;
  /** The server's part of the names of its tools. */
  readonly serverPart: string;
  /** Asked at every start, so that a secret that has changed is found. Throws an Error, for people, where it can't be. */
  resolve(): Promise<ResolvedEndpoint>;
  /** Tools or problems of the server are others now. */
  onChange(): void;
}

interface Connected {
  readonly session: McpSession;
  readonly calls: McpCalls;
  readonly scrub: (text: string) => string;
}

/** One server: connected, and again with growing distance when it is lost; what it lists, and calls of it. */
export class McpLink {
  readonly server: McpServer;
  readonly #options: McpLinkOptions;
  readonly #stop = new AbortController();
  readonly #firstTry = Promise.withResolvers<void>();
  #connected = Promise.withResolvers<Connected>();
  #catalogue: Catalogue = { tools: [], problems: [] };
  #problem: McpProblem | undefined;
  #running: Promise<void> | undefined;

  constructor(options: McpLinkOptions) {
    this.server = options.server;
    this.#options = options;
    // Whoever waits for it has a limit of his own.
    this.#connected.promise.catch(() => {});
  }

  /** Resolves once the server has listed its tools, or could not the first time. */
  start(): Promise<void> {
    this.#running ??= this.#run();
    return this.#firstTry.promise;
  }

  get catalogue(): Catalogue {
    return this.#catalogue;
  }

  get problems(): readonly McpProblem[] {
    return [...(this.#problem === undefined ? [] : [this.#problem]), ...this.#catalogue.problems];
  }

  /** Errors: conflict TOOL_CHANGED where the server's tool is not this one any more; MCP_SERVER_UNAVAILABLE. Nothing is called. */
  async check(tool: CatalogueTool, signal: AbortSignal): Promise<void> {
    const { session } = await this.#available(signal);
    let listed: ListedTool[];
    try {
      listed = await session.list(signal);
    } catch (error) {
      signal.throwIfAborted();
      // A server that does not even list its tools is stuck.
      void session.close();
      throw this.#unavailable((error as Error).message);
    }
    this.#publish(listed);
    const now = this.#catalogue.tools.find(({ name }) => name === tool.name);
    if (now === undefined) throw toolChanged(this.server.name, tool.remoteName, "it is gone");
    if (now.digest !== tool.digest) throw toolChanged(this.server.name, tool.remoteName, describeChange(tool, now));
  }

  async call(tool: CatalogueTool, args: Readonly<Record<string, unknown>>, call: ToolCall): Promise<JsonValue> {
    const { calls, scrub } = await this.#available(call.signal);
    const result = await calls.call(tool.remoteName, args, call);
    if (result.isError === true) {
      throw mcpError(
        ErrorCode.INTERNAL,
        "MCP_TOOL_ERROR",
        scrub(textOf(result)) || `the tool ${tool.remoteName} of the MCP server ${this.server.name} failed without a word`,
      );
    }
    return scrubJson(await outputOf(result, (content, mediaType) => call.putArtifact(content, mediaType)), scrub);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #available(signal: AbortSignal): Promise<Connected> {
    const limit = AbortSignal.any([signal, this.#stop.signal, AbortSignal.timeout(UNAVAILABLE_MS_MAX)]);
    const ended = Promise.withResolvers<undefined>();
    const onAbort = (): void => ended.resolve(undefined);
    limit.addEventListener("abort", onAbort, { once: true });
    try {
      const connected = limit.aborted ? undefined : await Promise.race([this.#connected.promise, ended.promise]);
      if (connected !== undefined) return connected;
    } finally {
      limit.removeEventListener("abort", onAbort);
    }
    signal.throwIfAborted();
    throw this.#unavailable(this.#problem?.message ?? "it is being started");
  }

  #unavailable(why: string): ForgeError {
    return mcpError(ErrorCode.INTERNAL, "MCP_SERVER_UNAVAILABLE", `the MCP server ${this.server.name} is not available, nothing was called: ${why}`, {
      retryable: true,
    });
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#stop.signal.aborted; failures++) {
      const startedAt = performance.now();
      let why: string;
      try {
        why = await this.#serve();
      } catch (error) {
        const known = forgeErrorIn(error);
        why = known?.message ?? (error instanceof Error ? error.message : String(error));
        this.#report(known?.reason || "MCP_SERVER_UNAVAILABLE", why);
      }
      this.#firstTry.resolve();
      if (this.#stop.signal.aborted) return;
      if (performance.now() - startedAt >= STABLE_MS) failures = 0;
      const waitMs = Math.min(RESTART_MS_MAX, RESTART_MS_MIN * 2 ** Math.min(failures, 16));
      // Half of it by chance, so that servers that failed together don't start together.
      await delay(waitMs / 2 + (Math.random() * waitMs) / 2, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  /** Serves one connection until it ends; resolves with why. */
  async #serve(): Promise<string> {
    const { endpoint, secrets } = await this.#options.resolve();
    let dirty = (): void => {};
    const session = await openSession(endpoint, { onListChanged: () => dirty(), signal: this.#stop.signal });
    const stop = (): void => void session.close();
    this.#stop.signal.addEventListener("abort", stop, { once: true });
    try {
      if (this.#stop.signal.aborted) await session.close();
      const listed = await session.list(this.#stop.signal);
      dirty = () => {
        session.list(this.#stop.signal).then(
          (again) => this.#publish(again),
          // Every call lists again, and says what is wrong.
          () => {},
        );
      };
      this.#problem = undefined;
      const { scrub } = createScrubber(secrets);
      this.#connected.resolve({ session, calls: new McpCalls(session, this.server.name), scrub });
      this.#publish(listed, true);
      this.#firstTry.resolve();
      const why = await session.ended;
      if (!this.#stop.signal.aborted) this.#report("MCP_SERVER_LOST", scrub(why));
      return why;
    } finally {
      this.#stop.signal.removeEventListener("abort", stop);
      this.#connected = Promise.withResolvers();
      this.#connected.promise.catch(() => {});
      await session.close();
    }
  }

  #publish(listed: readonly ListedTool[], isFirst = false): void {
    const catalogue = catalogueOf(this.server.name, this.#options.serverPart, listed);
    if (!isFirst && canonicalJson(catalogue) === canonicalJson(this.#catalogue)) return;
    this.#catalogue = catalogue;
    this.#options.onChange();
  }

  #report(reason: string, why: string): void {
    const { name, line } = this.server;
    // What says the server's name itself, for example what has to be done, is said as it is.
    this.#problem = { server: name, reason, message: why.startsWith("the MCP server ") ? why : `the MCP server ${name}: ${why}`, line };
    this.#options.onChange();
  }
}

/** The SDK wraps what its hooks throw. */
function forgeErrorIn(error: unknown): ForgeError | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < CAUSES_MAX; cause = cause.cause, depth++) if (cause instanceof ForgeError) return cause;
  return undefined;
}
