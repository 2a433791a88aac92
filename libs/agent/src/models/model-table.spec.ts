import { describe, expect, it } from "vitest";
import { costMicroUsd } from "./cost.ts";
import { entryOf, factsOf, LISTED_MODELS } from "./model-table.ts";

describe("the table of models", () => {
  const table = { "a/m": 1, "a/m*": 2, "a/*": 3 };

  it.each([
    ["a/m", 1],
    ["a/m-2", 2],
    ["a/x", 3],
    ["b/m", undefined],
    ["constructor", undefined],
  ])("finds the closest entry for %s", (model, entry) => {
    expect(entryOf(model, table)).toBe(entry);
  });

  it("takes each fact from the first table that knows it", () => {
    const own = { "openai/gpt-5*": { context_window_tokens: 1_000 } };
    const facts = factsOf("openai/gpt-5", [own, LISTED_MODELS]);
    expect(facts).toMatchObject({ context_window_tokens: 1_000, price: { output: 10_000_000 } });
  });

  it("lists the demo models as free and leaves unknown models without a price and a window", () => {
    expect(entryOf("demo/chat", LISTED_MODELS)?.price).toEqual({ input: 0, cached_input: 0, output: 0 });
    expect(entryOf("openai/gpt-5-mini-2025-08-07", LISTED_MODELS)?.price?.output).toBe(2_000_000);
    expect(entryOf("openai/gpt-5-pro", LISTED_MODELS)).toBeUndefined();
    expect(entryOf("ollama/llama3.2", LISTED_MODELS)).toBeUndefined();
    expect(entryOf("anthropic/claude-sonnet-4-5-20250929", LISTED_MODELS)).toMatchObject({ context_window_tokens: 200_000 });
    expect(entryOf("google/gemini-2.5-flash", LISTED_MODELS)?.price?.output).toBe(2_500_000);
  });
});

describe("cost", () => {
  const price = { input: 2_000_000, cached_input: 500_000, output: 8_000_000 };

  it("counts cached and written tokens apart and rounds up", () => {
    expect(costMicroUsd({ inputTokens: 1000n, cachedInputTokens: 400n, outputTokens: 100n }, price)).toBe(600n * 2n + 200n + 800n);
    expect(costMicroUsd({ inputTokens: 1n, cachedInputTokens: 0n, outputTokens: 0n }, { ...price, input: 1 })).toBe(1n);
    const written = { inputTokens: 1000n, cachedInputTokens: 400n, cacheWriteTokens: 100n, outputTokens: 0n };
    expect(costMicroUsd(written, { ...price, cache_write: 4_000_000 })).toBe(500n * 2n + 200n + 400n);
    expect(costMicroUsd(written, price)).toBe(600n * 2n + 200n);
  });

  it("never counts a token twice where a provider counts more of a kind than there are", () => {
    expect(costMicroUsd({ inputTokens: 10n, cachedInputTokens: 20n, cacheWriteTokens: 20n, outputTokens: 0n }, price)).toBe(5n);
  });
});
