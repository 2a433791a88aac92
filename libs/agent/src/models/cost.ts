import type { Usage } from "@forge/protocol/common";
import type { ModelPrice } from "./model-table.ts";

/** Tokens of one call; `cacheWriteTokens` are among the input tokens. */
export type CountedTokens = Pick<Usage, "inputTokens" | "outputTokens" | "cachedInputTokens"> & { readonly cacheWriteTokens?: bigint };

function atMost(count: bigint, bound: bigint): bigint {
  return count < bound ? count : bound;
}

/** Millionths of a US dollar, rounded up so that many small calls never look free. */
export function costMicroUsd(tokens: CountedTokens, price: ModelPrice): bigint {
  const cached = atMost(tokens.cachedInputTokens, tokens.inputTokens);
  const written = atMost(tokens.cacheWriteTokens ?? 0n, tokens.inputTokens - cached);
  const of = (count: bigint, perMillion: number): bigint => count * BigInt(Math.round(perMillion));
  const millionths =
    of(tokens.inputTokens - cached - written, price.input) +
    of(cached, price.cached_input) +
    of(written, price.cache_write ?? price.input) +
    of(tokens.outputTokens, price.output);
  return (millionths + 999_999n) / 1_000_000n;
}
