import { type ControlPlanePort, startWorker, type TaskHandler, type Worker } from "@forge/worker";
import type { McpTools } from "./create-mcp-tools.ts";

/** How tools of MCP servers are served. */
export interface McpWorkerOptions {
  readonly port: ControlPlanePort;
  /** Of a worker of its own: what it serves changes, and each change joins anew. Stable over restarts. */
  readonly name: string;
  readonly queues: readonly string[];
  readonly tools: Pick<McpTools, "handlers" | "onChange">;
  /** Calls at once. */
  readonly slots: number;
  readonly onProblem: (error: unknown) => void;
}

/** How long calls may go on before a changed list is served. Calls that take longer are lost, and settled as unknown. */
const DRAIN_MS = 60_000;

/** A worker whose tools follow those of its servers. */
export interface McpWorker {
  /** Takes no new calls and resolves when all that run are settled, or after the time. */
  drain(waitMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Serves the tools of MCP servers, and what they are later. Resolves once it has joined with those that there are; with none it joins with the first. */
export async function startMcpWorker({ port, name, queues, tools, slots, onProblem }: McpWorkerOptions): Promise<McpWorker> {
  let worker: Worker | undefined;
  let served: readonly TaskHandler[] = [];
  let isEnding = false;
  const follow = async (): Promise<void> => {
    const handlers = tools.handlers();
    if (isEnding || handlers === served) return;
    // A worker that joins gives up what its name held before: what runs ends first.
    await worker?.drain(DRAIN_MS);
    await worker?.stop();
    worker = undefined;
    if (isEnding) return;
    // Joining with nothing takes back what the name served before.
    const hasJoined = served.length > 0;
    served = handlers;
    if (handlers.length > 0 || hasJoined) worker = await startWorker({ port, name, queues, handlers, slots, onProblem });
  };
  let following = follow();
  const unsubscribe = tools.onChange(() => {
    following = following.then(follow).catch(onProblem);
  });
  try {
    await following;
  } catch (error) {
    unsubscribe();
    throw error;
  }
  const end = (): void => {
    isEnding = true;
    unsubscribe();
  };
  return {
    async drain(waitMs) {
      end();
      await worker?.drain(waitMs);
    },
    async stop() {
      end();
      await worker?.stop();
      await following;
      await worker?.stop();
    },
  };
}
