import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SILENT_MS_MAX, watchBeat } from "./watch-beat.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("calls once when a thread that works is silent, and not while it beats or has nothing to do", () => {
  const beat = new Int32Array(new SharedArrayBuffer(8));
  const onSilent = vi.fn<() => void>();
  const timer = watchBeat(beat, onSilent);
  vi.advanceTimersByTime(5 * SILENT_MS_MAX);
  expect(onSilent).not.toHaveBeenCalled();
  beat[1] = 1;
  for (let second = 0; second < 200; second++) {
    beat[0] = (beat[0] as number) + 1;
    vi.advanceTimersByTime(1_000);
  }
  expect(onSilent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(SILENT_MS_MAX / 2);
  expect(onSilent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(SILENT_MS_MAX);
  expect(onSilent).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(5 * SILENT_MS_MAX);
  expect(onSilent).toHaveBeenCalledTimes(1);
  clearInterval(timer);
});
