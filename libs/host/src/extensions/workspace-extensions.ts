import { setTimeout as delay } from "node:timers/promises";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import {
  callHook,
  createHookHandlers,
  createMcpTools,
  type McpProblem,
  McpTokens,
  type McpToolsOptions,
  type McpWorker,
  startMcpWorker,
  withToolHooks,
} from "@forge/tools";
import type { ControlPlanePort, TaskHandler } from "@forge/worker";
import type { TurnEnd } from "./watch-ends.ts";
import { hooksConfigOf, mcpConfigOf, type WorkspaceCode } from "./workspace-code.ts";

/** What hooks and MCP servers of a workspace need; in the process that tools run in. */
export interface WorkspaceExtensionsOptions extends Pick<McpToolsOptions, "secrets" | "wrap" | "pipeline"> {
  readonly code: WorkspaceCode;
  readonly workspace: string;
  /** Where logins to MCP servers are kept. */
  readonly dataDirectory: string;
  /** Variables that .mcp.json may use, beside those that hold nothing secret. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly port: ControlPlanePort;
  /** Of the worker that serves MCP tools: stable over restarts, and no other worker's. */
  readonly name: string;
  readonly queues: readonly string[];
  /** Calls of MCP tools at once; absent: 32. */
  readonly slots?: number;
  /** What is not served and why, and what went wrong beside any task. */
  readonly onProblem: (error: unknown) => void;
}

/** Hooks and MCP servers of a workspace, at work. */
export interface WorkspaceExtensions {
  /** The same tools with the hooks around them. */
  hooked(handlers: readonly TaskHandler[]): TaskHandler[];
  /** Hooks that are called in the loop, to be served beside the tools. */
  readonly hookHandlers: readonly TaskHandler[];
  /** Resolves once the MCP servers that there are have been tried, and what they have is served. */
  readonly ready: Promise<void>;
  problems(): readonly McpProblem[];
  /** Calls the hooks for the end of a turn, one after the other. Never rejects. */
  turnEnded(end: TurnEnd): Promise<void>;
  drain(waitMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** A server that takes longer to start is served when it is there; the others don't wait for it. */
const FIRST_LIST_MS_MAX = 10_000;
const SLOTS_DEFAULT = 32;
const REPORTED_MAX = 1000;

export function startWorkspaceExtensions(options: WorkspaceExtensionsOptions): WorkspaceExtensions {
  const { code, workspace, wrap, variables = {}, onProblem } = options;
  const config = hooksConfigOf(code);
  const hooked = (handlers: readonly TaskHandler[]): TaskHandler[] => withToolHooks(handlers, { config, workspace, wrap, onProblem });
  const tools = createMcpTools({
    config: mcpConfigOf(code),
    workspace,
    wrap,
    pipeline: options.pipeline,
    secrets: options.secrets,
    environment: { ...process.env, ...variables },
    allowedVariables: Object.keys(variables),
    tokens: new McpTokens(options.dataDirectory),
  });
  let served: { readonly from: readonly TaskHandler[]; readonly handlers: readonly TaskHandler[] } | undefined;
  const handlers = (): readonly TaskHandler[] => {
    const from = tools.handlers();
    if (served?.from !== from) served = { from, handlers: hooked(from) };
    return served.handlers;
  };

  const reported = new Set<string>();
  const report = (): void => {
    for (const { message, reason } of tools.problems()) {
      if (reported.has(message)) continue;
      if (reported.size >= REPORTED_MAX) reported.clear();
      reported.add(message);
      onProblem(new ForgeError(ErrorCode.VALIDATION, message, { reason, origin: "tool" }));
    }
  };
  for (const { message } of config.problems) onProblem(new ForgeError(ErrorCode.VALIDATION, message, { reason: "HOOKS_INVALID", origin: "worker" }));
  report();
  const unsubscribe = tools.onChange(report);

  let worker: McpWorker | undefined;
  const over = new AbortController();
  const start = async (): Promise<void> => {
    if (mcpConfigOf(code).servers.length === 0) return;
    await Promise.race([tools.ready, delay(FIRST_LIST_MS_MAX, undefined, { ref: false, signal: over.signal }).catch(() => {})]);
    if (over.signal.aborted) return;
    const { port, name, queues, slots = SLOTS_DEFAULT } = options;
    worker = await startMcpWorker({ port, name, queues, slots, onProblem, tools: { handlers, onChange: tools.onChange } });
  };
  const ready = start();
  ready.catch(onProblem);

  const turnEnded = async ({ sessionId, turnId, outcome, turnOutcome, text, error }: TurnEnd): Promise<void> => {
    const told = { session_id: sessionId, turn_id: turnId, outcome, turn_outcome: turnOutcome, text, error };
    for (const hook of config.hooks.filter(({ at }) => at.includes("on_turn_end"))) {
      await callHook(hook, "on_turn_end", told, { workspace, wrap }, over.signal).catch((failure: unknown) => {
        if (!over.signal.aborted) onProblem(failure);
      });
    }
  };

  return {
    hooked,
    turnEnded,
    hookHandlers: createHookHandlers(config.hooks, { workspace, wrap }),
    ready,
    problems: tools.problems,
    async drain(waitMs) {
      over.abort();
      await ready.catch(() => {});
      await worker?.drain(waitMs);
    },
    async stop() {
      over.abort();
      unsubscribe();
      await ready.catch(() => {});
      await worker?.stop();
      await tools.close();
    },
  };
}
