import type { Context } from "./decider.ts";

/** 0 up to, but not, 1: derived from what names an attempt, so that it is the same however often it is asked for and differs between what failed together. */
export function fractionOf(context: Pick<Context, "sha256">, ...parts: readonly (string | number)[]): number {
  return Number.parseInt(context.sha256(parts.join(":")).slice(0, 8), 16) / 2 ** 32;
}
