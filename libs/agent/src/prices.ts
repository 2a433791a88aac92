import type { Usage } from "@forge/protocol/common";
import listed from "./prices.json" with { type: "json" };

/** Micro-USD per million tokens: $1.25 per million is 1,250,000. */
export interface ModelPrice {
  readonly input: number;
  /** Of input tokens that the provider's cache answered. */
  readonly cached_input: number;
  /** Reasoning tokens are output tokens. */
  readonly output: number;
}

/** By `provider/model`, or by a beginning of it followed by `*`; the longest that matches holds. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/** The price list that comes with Forge. */
export const LISTED_PRICES: PriceTable = listed.prices;

/** The price of a model, or undefined where the table has none. */
export function priceOf(model: string, table: PriceTable): ModelPrice | undefined {
  const exact = table[model];
  if (exact) return exact;
  let best = "";
  for (const key of Object.keys(table)) {
    if (key.endsWith("*") && model.startsWith(key.slice(0, -1)) && key.length > best.length) best = key;
  }
  return table[best];
}

/** Millionths of a US dollar, rounded up so that many small calls never look free. */
export function costMicroUsd(tokens: Pick<Usage, "inputTokens" | "outputTokens" | "cachedInputTokens">, price: ModelPrice): bigint {
  const cached = tokens.cachedInputTokens < tokens.inputTokens ? tokens.cachedInputTokens : tokens.inputTokens;
  const of = (count: bigint, perMillion: number): bigint => count * BigInt(Math.round(perMillion));
  const millionths = of(tokens.inputTokens - cached, price.input) + of(cached, price.cached_input) + of(tokens.outputTokens, price.output);
  return (millionths + 999_999n) / 1_000_000n;
}
