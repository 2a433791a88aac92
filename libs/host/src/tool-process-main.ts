// The process of the tools: it holds no key of a provider, and ends with the process that started it.
import { enableCompileCache } from "node:module";
import type { ToHost, ToTools } from "./tool-process-messages.ts";
import type { ToolWorker } from "./tool-worker.ts";

const cacheDirectory = process.argv[2];
if (cacheDirectory !== undefined && cacheDirectory !== "") enableCompileCache(cacheDirectory);
// Loaded while the host does other things, and with the cache of compiled code, which only what is loaded from here on has.
const loaded = import("./tool-worker.ts");
loaded.catch(() => undefined);

let worker: Promise<ToolWorker> | undefined;

function tell(message: ToHost): void {
  // A host that has gone needs no word; this process is about to end as well.
  if (process.connected) process.send?.(message, () => {});
}

async function end(): Promise<never> {
  const started = await worker?.catch(() => undefined);
  await started?.stop();
  process.exit();
}

async function receive(message: ToTools): Promise<void> {
  switch (message.kind) {
    case "settings":
      worker = (await loaded).startToolWorker(message.settings, (error) => tell({ kind: "problem", message: textOf(error) }));
      await worker;
      tell({ kind: "joined" });
      return;
    case "turn-ended":
      await (await worker)?.turnEnded(message.end);
      return;
    case "session-ended":
      await (await worker)?.sessionEnded(message.sessionId);
      return;
    case "drain":
      await (await worker)?.drain(message.waitMs);
      tell({ kind: "drained" });
      return;
    case "stop":
      await end();
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

process.on("message", (message: ToTools) => {
  receive(message).catch((error: unknown) => {
    if (message.kind !== "settings") return tell({ kind: "problem", message: textOf(error) });
    tell({ kind: "failed", message: textOf(error) });
    void end();
  });
});
process.on("disconnect", () => void end());
// The host says when to end; a person's Ctrl-C is told to it alone, and it lets what runs finish first.
process.on("SIGINT", () => {});
