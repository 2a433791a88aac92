import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { create } from "@bufbuild/protobuf";
import { type Usage, UsageSchema } from "@forge/protocol/common";
import { costMicroUsd } from "../models/cost.ts";
import type { ModelPrice } from "../models/model-table.ts";

/** Servers send absent, fractional and negative counts; a count is a whole number from 0. */
function count(tokens: number | undefined): bigint {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? BigInt(Math.trunc(tokens)) : 0n;
}

/** What the call used; the cost only where both a price and the counts are known. */
export function toUsage(usage: LanguageModelV4Usage, price: ModelPrice | undefined): Usage {
  const { inputTokens, outputTokens } = usage;
  const tokens = {
    inputTokens: count(inputTokens.total),
    outputTokens: count(outputTokens.total),
    cachedInputTokens: count(inputTokens.cacheRead),
    reasoningTokens: count(outputTokens.reasoning),
  };
  const isCounted = inputTokens.total !== undefined && outputTokens.total !== undefined;
  return create(UsageSchema, {
    ...tokens,
    costMicroUsd: price && isCounted ? costMicroUsd({ ...tokens, cacheWriteTokens: count(inputTokens.cacheWrite) }, price) : undefined,
  });
}
