import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { pause } from "./pause.ts";

export interface RetryOptions {
  /** Absent: 60 s. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

/** Whether the same call, with the same command id, may succeed when it is made again. */
export function isPassing(error: unknown): error is ForgeError {
  return error instanceof ForgeError && error.detail.retryable && (error.code === ErrorCode.STORAGE_ERROR || error.code === ErrorCode.RESOURCE_EXHAUSTED);
}

/** Makes a call again while it fails in transit. Commands are idempotent by their id, so the request must carry the same one each time. */
export async function withRetry<T>(call: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const untilMs = Date.now() + (options.patienceMs ?? 60_000);
  for (let attempt = 0; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || Date.now() > untilMs) throw error;
      await pause(attempt, options.signal);
      if (options.signal?.aborted === true) throw error;
    }
  }
}
