import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from "vitest";
import { OpenStreams, RECHECK_MS } from "./open-streams.ts";

type Check = Mock<() => Promise<void>>;

describe("open streams", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const refusal = new ForgeError(ErrorCode.UNAUTHENTICATED, "withdrawn");

  it("end once their caller may not have them any more, and only then", async () => {
    const streams = new OpenStreams();
    const check = vi.fn<() => Promise<void>>().mockResolvedValue(undefined);
    const end = vi.fn<(error: ForgeError) => void>();
    streams.add("caller", check, end);
    await vi.advanceTimersByTimeAsync(RECHECK_MS * 3);
    expect([check.mock.calls.length, end.mock.calls.length]).toEqual([3, 0]);
    check.mockRejectedValue(refusal);
    await vi.advanceTimersByTimeAsync(RECHECK_MS * 3);
    expect(end.mock.calls).toEqual([[refusal]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("go on while nobody can say whether their caller may", async () => {
    const streams = new OpenStreams();
    const end = vi.fn<() => void>();
    streams.add("caller", () => Promise.reject(new ForgeError(ErrorCode.STORAGE_ERROR, "no database")), end);
    await vi.advanceTimersByTimeAsync(RECHECK_MS * 2);
    expect(end).not.toHaveBeenCalled();
  });

  it("are not looked at any more when they have ended", async () => {
    const streams = new OpenStreams();
    const check = vi.fn<() => Promise<void>>().mockRejectedValue(refusal);
    const end = vi.fn<() => void>();
    streams.add("caller", check, end)();
    await vi.advanceTimersByTimeAsync(RECHECK_MS * 2);
    expect([check, end].flatMap(({ mock }) => mock.calls)).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("of one caller are asked for once, end together, and are still asked for when the one that was asked has ended", async () => {
    const streams = new OpenStreams();
    const checks = [1, 2, 3].map(() => vi.fn<() => Promise<void>>().mockResolvedValue(undefined)) as [Check, Check, Check];
    const ends = [1, 2, 3].map(() => vi.fn<(error: ForgeError) => void>());
    const [endFirst] = ["a", "a", "b"].map((caller, index) => streams.add(caller, checks[index] as Check, ends[index] as (error: ForgeError) => void));
    await vi.advanceTimersByTimeAsync(RECHECK_MS);
    expect(checks.map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1]);
    endFirst?.();
    await vi.advanceTimersByTimeAsync(RECHECK_MS);
    expect(checks.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 2]);
    streams.add("a", checks[0], ends[0] as (error: ForgeError) => void);
    checks[1].mockRejectedValue(refusal);
    await vi.advanceTimersByTimeAsync(RECHECK_MS);
    expect(ends.map(({ mock }) => mock.calls)).toEqual([[[refusal]], [[refusal]], []]);
  });
});
