import { setTimeout as sleep } from "node:timers/promises";

/** Waits between attempts: 50 ms doubled each time up to 2 s, with jitter; an abort ends it. */
export async function pause(attempt: number, signal?: AbortSignal): Promise<void> {
  const ms = (0.5 + Math.random() / 2) * Math.min(2000, 50 * 2 ** attempt);
  // An abort only ends the wait: the caller looks at its signal.
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
