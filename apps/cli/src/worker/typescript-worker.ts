import { startFileWorker } from "@forge/sdk/file-worker";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { WorkerConnection } from "./worker-connection.ts";
import type { WorkerEnd, WorkerSettings } from "./worker-settings.ts";
import type { WorkerView } from "./worker-view.ts";

/** What still runs gets so long to finish; what does not is cancelled. */
const DRAIN_MS = 30_000;

/** Serves a file of TypeScript or JavaScript from a child process, until its end is asked for or another worker has taken its name. */
export async function runTypeScriptWorker(
  { environment }: Context,
  connection: WorkerConnection,
  settings: WorkerSettings,
  { asked, hurry }: WorkerEnd,
  view: WorkerView,
): Promise<number> {
  const { file, name, queues, slots, reload } = settings;
  const replaced = new AbortController();
  // A worker's code has no business with its credential.
  const { FORGE_TOKEN: _, ...childEnvironment } = environment;
  view.onStart({ name, queues, url: connection.url, reload });
  const worker = await startFileWorker({
    port: connection.port,
    name,
    queues,
    slots,
    file,
    reload,
    environment: childEnvironment,
    onEvent: (event) => view.onEvent(event),
    onReplaced: () => replaced.abort(),
  });
  try {
    await aborted(AbortSignal.any([asked, replaced.signal]));
    if (replaced.signal.aborted) {
      view.onReplaced(name);
      return EXIT.CONFLICT;
    }
    await Promise.race([worker.drain(DRAIN_MS), aborted(hurry)]);
    return EXIT.OK;
  } finally {
    await worker.stop();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
