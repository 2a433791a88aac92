import { describe, expect, it } from "vitest";
import { median, quantile, spread } from "./statistics.ts";

describe("median", () => {
  it("is the middle one, or what lies between the two middle ones, whatever the order", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  it("of nothing is no number", () => {
    expect(median([])).toBeNaN();
  });
});

describe("quantile", () => {
  it("never reaches beyond the list", () => {
    const ascending = Array.from({ length: 100 }, (_, index) => index);
    expect([0, 0.5, 0.99, 1].map((share) => quantile(ascending, share))).toEqual([0, 50, 99, 99]);
    expect(quantile([7], 0.99)).toBe(7);
  });
});

it("spreads over rounds", () => {
  expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
});
