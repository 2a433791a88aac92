import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { OpenStreams, RECHECK_MS } from "./open-streams.ts";

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
    streams.add(check, end);
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
    streams.add(() => Promise.reject(new ForgeError(ErrorCode.STORAGE_ERROR, "no database")), end);
    await vi.advanceTimersByTimeAsync(RECHECK_MS * 2);
    expect(end).not.toHaveBeenCalled();
  });

  it("are not looked at any more when they have ended", async () => {
    const streams = new OpenStreams();
    const check = vi.fn<() => Promise<void>>().mockRejectedValue(refusal);
    const end = vi.fn<() => void>();
    streams.add(check, end)();
    await vi.advanceTimersByTimeAsync(RECHECK_MS * 2);
    expect([check, end].flatMap(({ mock }) => mock.calls)).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
