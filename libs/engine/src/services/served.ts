import { nearest } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { WorkerRegistry } from "../tasks/worker-registry.ts";

const LISTED_MAX = 20;

/** Capabilities are "model:<provider/model>" or "function:<name>". Refused where no live worker of the queue serves one. */
export async function checkServed(registry: WorkerRegistry, namespace: string, queue: string, capabilities: readonly string[]): Promise<void> {
  const where = queue === "" ? "default" : queue;
  for (const capability of capabilities) {
    if (await registry.serves(namespace, where, capability)) continue;
    const colon = capability.indexOf(":");
    const kind = capability.slice(0, colon);
    const name = capability.slice(colon + 1);
    const served = registry.capabilities(namespace, where, `${kind}:`);
    const near = nearest(name, served);
    const shown = served.length > LISTED_MAX ? `${served.slice(0, LISTED_MAX).join(", ")}, … (${served.length})` : served.join(", ");
    const list = served.length === 0 ? "none is" : `served are: ${shown}${near === undefined ? "" : `; did you mean ${near}?`}`;
    throw ForgeError.validation(kind === "model" ? "model" : "function", `no worker of queue ${where} serves the ${kind} ${name}; ${list}`, {
      reason: kind === "model" ? "MODEL_NOT_SERVED" : "FUNCTION_NOT_SERVED",
      metadata: { name, queue: where },
    });
  }
}

/** Refused with unsupported, UNDO_NOT_SERVED, where no live worker of the queue can take back changes of files. */
export async function checkUndone(registry: WorkerRegistry, namespace: string, queue: string): Promise<void> {
  if (await registry.serves(namespace, queue, "workspace:undo")) return;
  throw new ForgeError(ErrorCode.UNSUPPORTED, `no worker of queue ${queue} takes back changes of files: start one that has the workspace`, {
    reason: "UNDO_NOT_SERVED",
    metadata: { queue },
  });
}
