import type { OverlapPolicy } from "@forge/protocol/workflow";
import { InvalidArgumentError } from "commander";

// Written down, so that help does not load the contracts; a name that is missing does not compile.
const NAMES = { SKIP: true, BUFFER_ONE: true, ALLOW_ALL: true, CANCEL_OTHER: true } satisfies Record<Exclude<keyof typeof OverlapPolicy, "UNSPECIFIED">, true>;

/** Names of policies as people write them, without their prefix. */
export const OVERLAPS: readonly string[] = Object.keys(NAMES);

/** A moment with its offset: 2026-12-24T18:00:00Z or 2026-12-24T18:00+01:00; in milliseconds since the epoch. */
export function parseMoment(text: string): number {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError("Write a time with its offset, as 2026-12-24T18:00:00Z.");
  return ms;
}
