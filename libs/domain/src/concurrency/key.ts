import type { Context } from "../decider.ts";

/** The stream of a concurrency key: one for each key of a namespace. */
export function concurrencyStreamId(context: Pick<Context, "deriveId">, key: string): string {
  return context.deriveId("concurrency", key);
}
