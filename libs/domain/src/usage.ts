import { create } from "@bufbuild/protobuf";
import { type Usage, UsageSchema } from "@forge/protocol/common";

/** Far above every real count and far below what a uint64 holds, so that sums can always be encoded. */
const COUNT_MAX = 2n ** 62n;

/** The sum of two usages. The cost is that of the calls whose price is known, absent where none is. */
export function addUsage(left: Usage | undefined, right: Usage | undefined): Usage | undefined {
  if (left === undefined) return right;
  if (right === undefined) return left;
  return create(UsageSchema, {
    inputTokens: add(left.inputTokens, right.inputTokens),
    outputTokens: add(left.outputTokens, right.outputTokens),
    cachedInputTokens: add(left.cachedInputTokens, right.cachedInputTokens),
    reasoningTokens: add(left.reasoningTokens, right.reasoningTokens),
    costMicroUsd: left.costMicroUsd === undefined ? right.costMicroUsd : add(left.costMicroUsd, right.costMicroUsd ?? 0n),
  });
}

function add(left: bigint, right: bigint): bigint {
  const sum = left + right;
  return sum > COUNT_MAX ? COUNT_MAX : sum;
}
