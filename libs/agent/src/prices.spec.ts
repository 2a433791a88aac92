import { describe, expect, it } from "vitest";
import { costMicroUsd, LISTED_PRICES, priceOf } from "./prices.ts";

describe("prices", () => {
  const table = {
    "a/m": { input: 1, cached_input: 1, output: 1 },
    "a/m*": { input: 2, cached_input: 2, output: 2 },
    "a/*": { input: 3, cached_input: 3, output: 3 },
  };

  it.each([
    ["a/m", 1],
    ["a/m-2", 2],
    ["a/x", 3],
    ["b/m", undefined],
  ])("finds the closest entry for %s", (model, input) => {
    expect(priceOf(model, table)?.input).toBe(input);
  });

  it("costs cached tokens apart and rounds up", () => {
    const price = { input: 2_000_000, cached_input: 500_000, output: 8_000_000 };
    expect(costMicroUsd({ inputTokens: 1000n, cachedInputTokens: 400n, outputTokens: 100n }, price)).toBe(600n * 2n + 200n + 800n);
    expect(costMicroUsd({ inputTokens: 1n, cachedInputTokens: 0n, outputTokens: 0n }, { ...price, input: 1 })).toBe(1n);
  });

  it("lists the demo models as free and leaves unknown models without a price", () => {
    expect(priceOf("demo/chat", LISTED_PRICES)).toEqual({ input: 0, cached_input: 0, output: 0 });
    expect(priceOf("openai/gpt-5-mini-2025-08-07", LISTED_PRICES)?.output).toBe(2_000_000);
    expect(priceOf("openai/gpt-5-pro", LISTED_PRICES)).toBeUndefined();
    expect(priceOf("ollama/llama3.2", LISTED_PRICES)).toBeUndefined();
  });
});
