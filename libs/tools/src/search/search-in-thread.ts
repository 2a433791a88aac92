import { Worker } from "node:worker_threads";
import { ForgeError } from "@forge/protocol";
import type { ForgeError as ForgeErrorMessage } from "@forge/protocol/common";
import type { SearchOptions, SearchResult } from "./search-workspace.ts";

/** Of the thread; a search holds one file at a time. */
const MEMORY_MIB_MAX = 256;

/** What the thread is started with. */
export interface SearchInThread {
  readonly workspace: string;
  readonly options: SearchOptions;
}

/** What the thread answers with, once. */
export type SearchAnswer = { readonly result: SearchResult } | { readonly error: ForgeErrorMessage };

/** A search in a thread of its own, which is ended when the signal aborts, whatever it is doing; rejects with the signal's reason then. */
export async function searchInThread(start: SearchInThread, signal: AbortSignal): Promise<SearchResult> {
  signal.throwIfAborted();
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
