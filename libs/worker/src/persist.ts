import { backoffMs, pause } from "@forge/core";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** What can't be delivered is tried for this long; then the lease has long been lost. */
const PATIENCE_MS = 60_000;

/** Makes an idempotent call again while it fails in passing: the control plane or its database is away, or has restarted. Ends early when the signal aborts. */
export async function persist<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const untilMs = Date.now() + PATIENCE_MS;
  for (let attempt = 0; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || Date.now() > untilMs || signal?.aborted === true) throw error;
    }
    await pause(backoffMs(attempt, 20, 1000), signal);
  }
}

/** Where they say that a retry may help; a version that can't read a stream may be followed by one that can. */
const RETRIED: ReadonlySet<ErrorCode> = new Set([ErrorCode.STORAGE_ERROR, ErrorCode.RESOURCE_EXHAUSTED, ErrorCode.UNSUPPORTED_VERSION]);

/** Whether the same call may succeed later. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ForgeError)) return false;
  const { code, reason, detail } = error;
  return (RETRIED.has(code) && detail.retryable) || code === ErrorCode.WORKER_LOST || reason === "WORKER_SESSION";
}
