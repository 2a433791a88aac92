import { Worker } from "node:worker_threads";
import { ForgeError } from "@forge/protocol";
import type { ForgeError as ForgeErrorMessage } from "@forge/protocol/common";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import type { GlobOptions, GlobResult } from "./glob-workspace.ts";
import type { SearchOptions, SearchResult } from "./search-workspace.ts";

/** Of the thread; a search holds one file at a time. */
const MEMORY_MIB_MAX = 256;

/** What a thread can look for, and what it finds. */
interface Jobs {
  search: { options: SearchOptions; result: SearchResult };
  glob: { options: GlobOptions; result: GlobResult };
}

type Job = { [Kind in keyof Jobs]: { readonly kind: Kind; readonly options: Jobs[Kind]["options"] } }[keyof Jobs];

/** What the thread is started with. */
export interface SearchInThread {
  readonly workspace: string;
  readonly forbidden: readonly string[];
  readonly job: Job;
}

/** What the thread answers with, once. */
export type SearchAnswer = { readonly result: Jobs[keyof Jobs]["result"] } | { readonly error: ForgeErrorMessage };

/** A search in a thread of its own, which is ended when the signal aborts, whatever it is doing; rejects with the signal's reason then. */
export async function searchInThread<Kind extends keyof Jobs>(
  guard: WorkspaceGuard,
  kind: Kind,
  options: Jobs[Kind]["options"],
  signal: AbortSignal,
): Promise<Jobs[Kind]["result"]> {
  signal.throwIfAborted();
  const start: SearchInThread = { workspace: guard.root, forbidden: guard.forbidden, job: { kind, options } as Job };
  const thread = new Worker(new URL("./search-thread.ts", import.meta.url), {
    workerData: start,
    // Nothing of the owner's: neither its environment nor its options.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB_MAX },
  });
  const over = new AbortController();
  try {
    const answer = await new Promise<SearchAnswer>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true, signal: over.signal });
      thread.once("message", resolve);
      thread.once("error", reject);
      thread.once("exit", (code) => reject(new Error(`the search's thread ended with code ${code}`)));
    });
    if ("error" in answer) throw ForgeError.from(answer.error);
    return answer.result;
  } finally {
    over.abort();
    await thread.terminate();
  }
}
