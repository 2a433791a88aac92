import type { Usage } from "@forge/protocol/common";

/** Money: $0.00 where it cost nothing, `-` where nobody knows, and digits enough to see a small sum. */
export function formatCost(usage: Usage | undefined): string {
  const micro = usage?.costMicroUsd;
  if (micro === undefined) return "-";
  const dollars = Number(micro) / 1_000_000;
  return `$${dollars.toFixed(dollars === 0 || dollars >= 1 ? 2 : 4)}`;
}

/** Tokens in and out: 1.2k/340; `-` where there was no model. */
export function formatTokens(usage: Usage | undefined): string {
  if (usage === undefined || (usage.inputTokens === 0n && usage.outputTokens === 0n)) return "-";
  return `${count(Number(usage.inputTokens))}/${count(Number(usage.outputTokens))}`;
}

function count(value: number): string {
  if (value < 1_000) return String(value);
  return value < 1_000_000 ? `${(value / 1_000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}
