// The thread that a search by regular expression runs in, so that an expression that backtracks without end can be stopped.
import { parentPort, workerData } from "node:worker_threads";
import { ForgeError } from "@forge/protocol";
import { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import type { SearchAnswer, SearchInThread } from "./search-in-thread.ts";
import { searchWorkspace } from "./search-workspace.ts";

const { workspace, options } = workerData as SearchInThread;
parentPort?.postMessage(await answer());

async function answer(): Promise<SearchAnswer> {
  try {
    return { result: await searchWorkspace(new WorkspaceGuard(workspace), options) };
  } catch (error) {
    // An error loses its class between threads, its wire form does not.
    if (error instanceof ForgeError) return { error: error.detail };
    throw error;
  }
}
