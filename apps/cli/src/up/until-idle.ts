/** What tells how long it has been idle, in milliseconds. */
export interface Idler {
  idleMs(): Promise<number>;
}

export interface IdleWatch {
  /** Resolves when it has been idle for long enough. */
  readonly promise: Promise<void>;
  stop(): void;
}

const LOOKS_PER_IDLE_TIME = 10;
const LOOK_MS_MIN = 50;
const LOOK_MS_MAX = 5_000;

/** Watches until something has been idle for so long. A look that fails counts as one that found it busy: the next one tells. */
export function untilIdle(server: Idler, idleMs: number): IdleWatch {
  const { promise, resolve } = Promise.withResolvers<void>();
  const lookMs = Math.min(LOOK_MS_MAX, Math.max(LOOK_MS_MIN, idleMs / LOOKS_PER_IDLE_TIME));
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    server
      .idleMs()
      .then(
        (ms) => {
          if (ms < idleMs) return;
          clearInterval(timer);
          resolve();
        },
        () => undefined,
      )
      .finally(() => {
        isLooking = false;
      });
  }, lookMs);
  return { promise, stop: () => clearInterval(timer) };
}
