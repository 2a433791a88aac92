import { setTimeout as delay } from "node:timers/promises";

/** Waits for a promise that never rejects, at most for the given time; resolves to whether it had settled. Leaves no timer behind. */
export async function within(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const timer = new AbortController();
  const done = await Promise.race([promise.then(() => true), delay(timeoutMs, false, { signal: timer.signal }).catch(() => false)]);
  timer.abort();
  return done;
}
