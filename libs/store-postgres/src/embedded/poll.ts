import { setTimeout as delay } from "node:timers/promises";

export interface PollOptions {
  /** How long to ask at most, in milliseconds. */
  deadlineMs: number;
  /** How long to wait between two questions, in milliseconds. */
  intervalMs?: number;
  signal?: AbortSignal;
}

/**
 * Asks until the answer is true or the deadline has passed, and says which. For conditions that nothing announces, such as the end of a process
 * that is not a child. Rejects with the signal's reason when it is aborted.
 */
export async function poll(condition: () => Promise<boolean>, { deadlineMs, intervalMs = 10, signal }: PollOptions): Promise<boolean> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    signal?.throwIfAborted();
    if (await condition()) return true;
    if (performance.now() >= end) return false;
    await delay(intervalMs);
  }
}
