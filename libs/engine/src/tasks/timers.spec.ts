import { expect, it, vi } from "vitest";
import type { StreamEngine } from "../stream/stream-engine.ts";
import type { Repair } from "./repair.ts";
import { Timers } from "./timers.ts";

/** Timers where there are none, and the times at which they were asked for. */
function setup(nextDueInMs: number | undefined, onAsked: (timers: Timers) => void = () => undefined) {
  const askedAtMs: number[] = [];
  const lease = async () => {
    askedAtMs.push(Date.now());
    onAsked(timers);
    return { tasks: [], isFull: false, nextDueInMs };
  };
  const timers = new Timers(lease, {} as StreamEngine, {} as Repair, (error) => {
    throw error;
  });
  const stop = new AbortController();
  return { timers, askedAtMs, stop, running: timers.run(stop.signal) };
}

async function after(ms: number, { stop, running }: ReturnType<typeof setup>): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  stop.abort();
  await running;
}

it("asks when a timer is due that was set while the store was being asked", async () => {
  vi.useFakeTimers({ now: 1_000_000 });
  const timers = setup(undefined, (own) => own.expect(1_000_200));
  await after(1_000, timers);
  expect(timers.askedAtMs.slice(0, 2)).toEqual([1_000_000, 1_000_200]);
  vi.useRealTimers();
});

it("asks at once when a timer is set that comes before the one it waits for", async () => {
  vi.useFakeTimers({ now: 1_000_000 });
  const timers = setup(4_000);
  await vi.advanceTimersByTimeAsync(100);
  timers.timers.expect(1_000_500);
  await after(1_000, timers);
  expect(timers.askedAtMs).toEqual([1_000_000, 1_000_100]);
  vi.useRealTimers();
});

it("asks at most fifty times a second, however close the next timer seems by this machine's clock", async () => {
  vi.useFakeTimers({ now: 1_000_000 });
  const timers = setup(0);
  await after(1_000, timers);
  expect(timers.askedAtMs.length).toBeLessThanOrEqual(51);
  vi.useRealTimers();
});
