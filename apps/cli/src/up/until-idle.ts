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

/** Who can't be asked for so long serves nobody either: its database is gone. */
const BLIND_MS_MAX = 60_000;

/** Watches until something has been idle for so long. A look that fails tells nothing, but where all of them fail for a minute it counts as idle. */
export function untilIdle(server: Idler, idleMs: number): IdleWatch {
  const { promise, resolve } = Promise.withResolvers<void>();
  const lookMs = Math.min(LOOK_MS_MAX, Math.max(LOOK_MS_MIN, idleMs / LOOKS_PER_IDLE_TIME));
  let isLooking = false;
  let seenAtMs = Date.now();
  const look = async (): Promise<boolean> => {
    try {
      const isOver = (await server.idleMs()) >= idleMs;
      seenAtMs = Date.now();
      return isOver;
    } catch {
      return Date.now() - seenAtMs > BLIND_MS_MAX;
    }
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look().then((isOver) => {
      isLooking = false;
      if (!isOver) return;
      clearInterval(timer);
      resolve();
    });
  }, lookMs);
  return { promise, stop: () => clearInterval(timer) };
}
