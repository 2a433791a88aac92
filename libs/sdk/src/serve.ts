import type { ForgeError } from "@forge/protocol";
import { type ControlPlanePort, startWorker, type Worker } from "@forge/worker";
import type { Logger } from "./context.ts";
import type { Definition } from "./definition.ts";
import { createHandlers } from "./handlers.ts";
import { consoleLogger } from "./logger.ts";
import { checkServed, SLOTS_DEFAULT } from "./served.ts";

interface Serving {
  /** Stable over restarts: a worker that joins under the name of another one gives up what that one held. */
  readonly name: string;
  readonly definitions: readonly Definition[];
  /** Absent: `default`. */
  readonly queues?: readonly string[];
  /** Calls at once; absent: 8. */
  readonly slots?: number;
  /** Absent: standard error. */
  readonly logger?: Logger;
  /** Called once when another worker has joined under this name; this one serves nothing more. Absent: it joins again. */
  readonly onReplaced?: () => void;
}

/** With which control plane: by its address and a worker's token, or over a client that is there already and stays open. */
export type ServeOptions = Serving & ({ readonly url: string; readonly token: string } | { readonly client: ControlPlanePort });

/** Code of this process can't be killed; what has not stopped by then is settled as something that nobody knows. */
const GRACE_MS = 5_000;

/**
 * Serves definitions from this process. Resolves once it has joined; then it goes on over lost connections until it is stopped. Errors: validation; unauthenticated,
 * permission_denied, unsupported_version from the control plane.
 */
export async function serve(options: ServeOptions): Promise<Worker> {
  const { name, definitions, queues = ["default"], slots = SLOTS_DEFAULT, logger = consoleLogger, onReplaced } = options;
  const handlers = createHandlers(definitions, { logger, graceMs: GRACE_MS });
  checkServed(handlers);
  // Loaded only where it is needed: a file that `forge worker` serves never does, and is loaded in half the time.
  const own = "client" in options ? undefined : (await import("@forge/client")).createConnectClient({ url: options.url, token: options.token });
  const port = own ?? (options as { readonly client: ControlPlanePort }).client;
  const onProblem = (error: unknown): void => logger.warn("a problem beside any call", { error: (error as ForgeError | Error).message ?? String(error) });
  try {
    const worker = await startWorker({ port, name, queues, handlers, slots, onProblem, onReplaced });
    return {
      drain: (waitMs) => worker.drain(waitMs),
      stop: async () => {
        await worker.stop();
        await own?.close();
      },
    };
  } catch (error) {
    await own?.close();
    throw error;
  }
}
