// The thread that a search runs in that may take without end, by an expression that backtracks or a pattern that does, so that it can be stopped.
import { parentPort, workerData } from "node:worker_threads";
import { ForgeError } from "@forge/protocol";
import { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { globWorkspace } from "./glob-workspace.ts";
import type { SearchAnswer, SearchInThread } from "./search-in-thread.ts";
import { searchWorkspace } from "./search-workspace.ts";

parentPort?.postMessage(await answer(workerData as SearchInThread));

async function answer({ workspace, forbidden, job }: SearchInThread): Promise<SearchAnswer> {
  try {
    const guard = new WorkspaceGuard(workspace, { forbidden });
    return { result: job.kind === "search" ? await searchWorkspace(guard, job.options) : await globWorkspace(guard, job.options) };
  } catch (error) {
    // An error loses its class between threads, its wire form does not.
    if (error instanceof ForgeError) return { error: error.detail };
    throw error;
  }
}
