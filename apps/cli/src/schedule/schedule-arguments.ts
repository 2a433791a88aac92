import { OverlapPolicySchema } from "@forge/protocol/workflow";
import { InvalidArgumentError } from "commander";
import { enumName } from "../output/message-json.ts";

/** Names of policies as people write them, without their prefix. */
export const OVERLAPS: readonly string[] = OverlapPolicySchema.values
  .filter(({ number }) => number !== 0)
  .map(({ number }) => enumName(OverlapPolicySchema, number));

/** A moment with its offset: 2026-12-24T18:00:00Z or 2026-12-24T18:00+01:00; in milliseconds since the epoch. */
export function parseMoment(text: string): number {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError("Write a time with its offset, as 2026-12-24T18:00:00Z.");
  return ms;
}
