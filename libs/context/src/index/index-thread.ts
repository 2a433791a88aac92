// The thread that an index is built and asked in, so that neither a hundred thousand files nor a map of them keep anybody waiting.
import { parentPort, workerData } from "node:worker_threads";
import { RepositoryIndexer } from "./repository-indexer.ts";
import type { FromThread, StartThread, ToThread } from "./thread-messages.ts";

/** How often it is told how far the index is. */
const TELL_MS = 100;

const { root, dataDirectory, beat } = workerData as StartThread;
const port = parentPort;
if (port === null) throw new Error("this is to be started as a thread");

let told = 0;
const indexer = new RepositoryIndexer({
  root,
  dataDirectory,
  onProgress: () => {
    Atomics.add(beat, 0, 1);
    if (performance.now() - told < TELL_MS) return;
    told = performance.now();
    tell({ kind: "status", status: indexer.status });
  },
});

// One update after the other; a map of what is known by then is drawn between two of its steps.
let updates: Promise<void> = Promise.resolve();
port.on("message", (message: ToThread) => {
  if (message.kind === "map") {
    answer(message.id, () => ({ kind: "map", id: message.id, map: indexer.map(message.request), status: indexer.status }));
    return;
  }
  updates = updates.then(async () => {
    Atomics.store(beat, 1, 1);
    await indexer.update().then(
      (status) => tell({ kind: "updated", id: message.id, status }),
      (error: unknown) => tell({ kind: "failed", id: message.id, message: (error as Error).message }),
    );
    Atomics.store(beat, 1, 0);
  });
});

function answer(id: number, make: () => FromThread): void {
  try {
    tell(make());
  } catch (error) {
    tell({ kind: "failed", id, message: (error as Error).message });
  }
}

function tell(message: FromThread): void {
  port?.postMessage(message);
}
