import { sha256Hex } from "../stream/identity.ts";
import type { Calendar } from "./calendar.ts";

/** Times that are counted where they were missed: it costs some milliseconds, and nobody needs to know more than that they were many. */
const MISSED_MAX = 1_000;

export interface DueTimes {
  /** Those that passed too long ago, in a row: the first of them, and how many, at most MISSED_MAX. */
  readonly missed: { readonly atMs: number; readonly count: number } | undefined;
  /** Those to be taken now, in order. */
  readonly dueMs: readonly number[];
  /** All times up to here are missed or due. */
  readonly throughMs: number;
  /** When the next is due, which may have passed where there are more than the limit; undefined: none is to come. */
  readonly nextDueMs: number | undefined;
}

/** What has come since `takenThroughMs`. Where the clock has stepped back behind it, nothing has. At most `limit` times are due. */
export function dueTimes(options: {
  readonly calendar: Calendar;
  readonly scheduleId: string;
  readonly takenThroughMs: number;
  readonly nowMs: number;
  readonly catchUpMs: number;
  readonly jitterMs: number;
  readonly limit: number;
}): DueTimes {
  const { calendar, scheduleId, takenThroughMs, nowMs, catchUpMs, jitterMs, limit } = options;
  // Times are whole seconds: one as old as the window is within it.
  const missedThroughMs = nowMs - catchUpMs - jitterMs - 1;
  const dueAtMs = (atMs: number): number => atMs + jitterOf(scheduleId, atMs, jitterMs);
  const missed = missedBetween(calendar, takenThroughMs, missedThroughMs);
  let throughMs = missed === undefined ? takenThroughMs : missedThroughMs;
  const dueMs: number[] = [];
  let next = calendar.next(throughMs);
  while (next !== undefined && dueAtMs(next) <= nowMs && dueMs.length < limit) {
    dueMs.push(next);
    throughMs = next;
    next = calendar.next(next);
  }
  return { missed, dueMs, throughMs, nextDueMs: next === undefined ? undefined : dueAtMs(next) };
}

function missedBetween(calendar: Calendar, afterMs: number, throughMs: number): DueTimes["missed"] {
  const first = calendar.next(afterMs);
  if (first === undefined || first > throughMs) return undefined;
  let count = 1;
  for (let next = calendar.next(first); next !== undefined && next <= throughMs && count < MISSED_MAX; next = calendar.next(next)) count++;
  return { atMs: first, count };
}

/** By how much a time is late, from 0 to below the bound: the same for whoever computes it, and another for each schedule, so that they spread. */
export function jitterOf(scheduleId: string, atMs: number, boundMs: number): number {
  if (boundMs === 0) return 0;
  const random = Number.parseInt(sha256Hex(`${scheduleId}\0${atMs}`).slice(0, 8), 16);
  return Math.floor((random / 2 ** 32) * boundMs);
}
