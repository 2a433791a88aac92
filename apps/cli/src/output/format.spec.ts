import { create } from "@bufbuild/protobuf";
import { UsageSchema } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { formatAge, formatDuration, formatElapsed } from "./format-time.ts";
import { formatCost, formatTokens } from "./format-usage.ts";

describe("durations", () => {
  it.each([
    [0, "0ms"],
    [999, "999ms"],
    [1_000, "1.0s"],
    [59_949, "59.9s"],
    [59_999, "1m00s"],
    [3_599_400, "59m59s"],
    [3_599_600, "1h00m"],
    [7_380_000, "2h03m"],
  ])("shows %i ms as %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

  it("shows what still grows in tenths from the start", () => expect(formatElapsed(240)).toBe("0.2s"));

  it.each([
    [59_000, "59s"],
    [61_000, "1m"],
    [7_200_000, "2h"],
    [172_800_000, "2d"],
    [-5_000, "0s"],
  ])("shows an age of %i ms as %s", (ms, text) => expect(formatAge(0, ms)).toBe(text));
});

describe("usage", () => {
  const usage = (costMicroUsd: bigint | undefined) => create(UsageSchema, { inputTokens: 1_234n, outputTokens: 56n, costMicroUsd });

  it.each([
    [0n, "$0.00"],
    [1n, "$0.0000"],
    [1_234n, "$0.0012"],
    [1_500_000n, "$1.50"],
    [undefined, "-"],
  ])("shows %s millionths of a dollar as %s", (micro, text) => expect(formatCost(usage(micro))).toBe(text));

  it("shows tokens in and out, and nothing where there was no model", () => {
    expect(formatTokens(usage(0n))).toBe("1.2k/56");
    expect(formatTokens(undefined)).toBe("-");
  });
});
