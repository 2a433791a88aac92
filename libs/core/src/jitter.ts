/** A promise that resolves after some milliseconds, or at once when the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** A random number of milliseconds in [from, to). */
export function jitterMs(from: number, to: number): number {
  return from + Math.random() * (to - from);
}

/** Exponential backoff with full jitter: attempt 0 waits up to baseMs, each following up to twice as long, at most maxMs. */
export function backoffMs(attempt: number, baseMs: number, maxMs: number): number {
  return jitterMs(0.5, 1) * Math.min(maxMs, baseMs * 2 ** attempt);
}
