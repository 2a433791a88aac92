import { describe, expect, it } from "vitest";
import { callGaps, commitsPerCall, roundGaps } from "./loop-gaps.ts";

const exchange = (arrivedMs: number, endedMs: number) => ({ arrivedMs, firstPieceMs: arrivedMs, endedMs });

describe("gaps of the loop", () => {
  it("are between calls, in the order in which they were made, however they were told", () => {
    const calls = [
      { beganMs: 30, endedMs: 31 },
      { beganMs: 10, endedMs: 12 },
      { beganMs: 17, endedMs: 20 },
    ];
    expect(callGaps(calls)).toEqual([5, 10]);
    expect(callGaps(calls.slice(0, 1))).toEqual([]);
  });

  it("of a round are neither the provider's nor the tool's time", () => {
    const exchanges = [exchange(0, 100), exchange(110, 300), exchange(320, 321)];
    const calls = [
      { beganMs: 103, endedMs: 105 },
      { beganMs: 305, endedMs: 316 },
    ];
    expect(roundGaps(exchanges, calls)).toEqual([8, 9]);
  });

  it("are refused where calls and answers do not belong together", () => {
    const exchanges = [exchange(0, 100), exchange(110, 300)];
    expect(() => roundGaps(exchanges, [])).toThrow("had 0 calls");
    expect(() => roundGaps(exchanges, [{ beganMs: 99, endedMs: 105 }])).toThrow("between");
    expect(() => roundGaps(exchanges, [{ beganMs: 101, endedMs: 111 }])).toThrow("between");
  });
});

describe("commits", () => {
  it("of a model call and of a tool call are told apart", () => {
    // A turn by itself commits 1, a model call 2, a tool call 3; 10 calls.
    expect(commitsPerCall({ plain: 3, rounds: 1 + 11 * 2 + 10 * 3, calls: 1 + 2 * 2 + 10 * 3 }, 10)).toEqual({ model: 2, tool: 3 });
  });
});
