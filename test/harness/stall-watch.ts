import { writeSync } from "node:fs";
import { type Debugger, Session } from "node:inspector";
import { setTimeout as delay } from "node:timers/promises";
import { isMainThread, Worker, workerData } from "node:worker_threads";

/** The event loop stands still this long before it is told: far more than any honest work, far less than a test's patience. */
const STALL_MS = 10_000;
const BEAT_MS = 500;
/** A loop over microtasks has no stack that tells of it: what it does is seen by stepping through it. */
const STEPS = 60;

/** Watches this process's event loop from a thread, which tells on stderr what the main thread does when it does not come round any more: a test that only sees silence explains nothing. */
export function watchForStalls(): void {
  if (!isMainThread) return;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  new Worker(new URL(import.meta.url), { workerData: beats }).unref();
}

async function watch(beats: Int32Array): Promise<never> {
  let last = 0;
  let sinceMs = performance.now();
  for (;;) {
    await delay(BEAT_MS);
    const now = Atomics.load(beats, 0);
    const stoodMs = performance.now() - sinceMs;
    if (now === last && stoodMs < STALL_MS) continue;
    if (now === last) tellWhere(Math.round(stoodMs));
    last = now;
    sinceMs = performance.now();
  }
}

function tellWhere(stoodMs: number): void {
  const session = new Session();
  session.connectToMainThread();
  const places = new Set<string>();
  let steps = 0;
  session.on("Debugger.paused", ({ params }: { params: Debugger.PausedEventDataType }) => {
    for (const { functionName, url, location } of params.callFrames)
      if (!url.startsWith("node:")) places.add(`${functionName} (${url}:${location.lineNumber + 1})`);
    steps++;
    if (steps < STEPS) {
      session.post("Debugger.stepInto");
      return;
    }
    writeSync(2, `the event loop has stood still for ${stoodMs} ms, in\n${[...places].map((place) => `    ${place}`).join("\n")}\n`);
    session.post("Debugger.resume", () => session.disconnect());
  });
  session.post("Debugger.enable");
  session.post("Debugger.pause");
}

if (!isMainThread && workerData instanceof Int32Array) void watch(workerData);
