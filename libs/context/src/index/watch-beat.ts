/** A grammar that runs in a circle can't be interrupted from inside. */
export const SILENT_MS_MAX = 60_000;

/** What a thread shares with the one who watches it: [0] counts up while it works, [1] is 1 while it has something to do. */
export type Beat = Int32Array<SharedArrayBuffer>;

/** Calls back once when a thread that has something to do gives no sign of life for a minute. Keeps no process alive; `clearInterval` ends it. */
export function watchBeat(beat: Beat, onSilent: () => void): NodeJS.Timeout {
  let [last, since] = [-1, performance.now()];
  const timer = setInterval(() => {
    const now = Atomics.load(beat, 0);
    if (Atomics.load(beat, 1) === 0 || now !== last) [last, since] = [now, performance.now()];
    else if (performance.now() - since > SILENT_MS_MAX) {
      clearInterval(timer);
      onSilent();
    }
  }, SILENT_MS_MAX / 10);
  return timer.unref();
}
