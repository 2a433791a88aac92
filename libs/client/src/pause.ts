/** Waits between attempts: 50 ms doubled each time up to 2 s, with jitter; an abort ends it. */
export async function pause(attempt: number, signal?: AbortSignal): Promise<void> {
  const ms = (0.5 + Math.random() / 2) * Math.min(2000, 50 * 2 ** attempt);
  if (signal?.aborted === true) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  // An abort only ends the wait: the caller looks at its signal. The timers of the web, since browsers wait here as well.
  const timer = setTimeout(resolve, ms);
  const onAbort = (): void => resolve();
  signal?.addEventListener("abort", onAbort, { once: true });
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener("abort", onAbort);
}
