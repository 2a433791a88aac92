import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { untilIdle } from "./until-idle.ts";

describe("untilIdle", () => {
  it("gives a server up that can't be asked any more", async () => {
    let isOver = false;
    void untilIdle({ idleMs: () => Promise.reject(new Error("the database is gone")) }, 1_000).promise.then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(59_000);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(isOver).toBe(true);
  });

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("resolves once it has been idle for long enough, and a look that fails does not count", async () => {
    const answers: (number | Error)[] = [0, new Error("the database is away"), 900, 1_000];
    const looked: number[] = [];
    let isOver = false;
    const watch = untilIdle(
      {
        idleMs: async () => {
          looked.push(Date.now());
          const answer = answers.shift() ?? 0;
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
      1_000,
    );
    void watch.promise.then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(300);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(isOver).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(looked).toHaveLength(4);
  });
});
