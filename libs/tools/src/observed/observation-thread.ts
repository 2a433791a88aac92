// The thread that looks at a workspace: its work is synchronous, and long in a large one.
import { createHash } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { excludeText } from "../search/ignore-rules.ts";
import { forbiddenPaths } from "../workspace/forbidden-paths.ts";
import type { ThreadAnswer, ThreadQuestion, ThreadStart } from "./observation-protocol.ts";
import { ObservationStore } from "./observation-store.ts";
import { WorkspaceScanner } from "./workspace-scanner.ts";

/** After the last look at which something had changed: what is not stored only has to be read again. */
const SAVE_DELAY_MS = 2_000;

const { root, forbidden, directory, bytesMax } = workerData as ThreadStart;
const store = new ObservationStore(directory, { key: key(), bytesMax });
const scanner = new WorkspaceScanner({ root, isForbidden: forbiddenPaths(forbidden), pack: store.pack }, store.known);
let isStored = false;
let timer: NodeJS.Timeout | undefined;

parentPort?.on("message", ({ id, question }: { id: number; question: ThreadQuestion }) => {
  try {
    parentPort?.postMessage({ id, answer: answer(question) });
  } catch (error) {
    parentPort?.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
});

function answer(question: ThreadQuestion): ThreadAnswer {
  switch (question.kind) {
    case "scan": {
      if (question.mayForget) store.pack.retain(scanner.contents());
      const observation = scanner.scan();
      if (!isStored || observation.changes.length > 0) saveSoon();
      return { kind: "scan", observation };
    }
    case "refresh":
      scanner.refresh(question.paths);
      saveSoon();
      return { kind: "refresh" };
    case "content":
      return { kind: "content", content: store.pack.get(question.sha256) };
  }
}

function saveSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    store.save(scanner.manifest, key());
    isStored = true;
  }, SAVE_DELAY_MS);
}

/** What is sorted out of a manifest depends on these, which it can't see change. */
function key(): string {
  return createHash("sha256")
    .update(JSON.stringify([root, forbidden, excludeText(root)]))
    .digest("hex");
}
