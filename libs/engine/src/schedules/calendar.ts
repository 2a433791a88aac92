import { ForgeError } from "@forge/protocol";
import { Cron } from "croner";

/** The times of a schedule. */
export interface Calendar {
  /** The first time after a moment, both milliseconds since the epoch, times in whole seconds; undefined: none is to come. */
  next(afterMs: number): number | undefined;
}

export interface CalendarOptions {
  readonly cron: readonly string[];
  /** IANA name. */
  readonly timeZone: string;
  /** No time before; absent: none. */
  readonly startMs?: number;
  /** No time after; absent: none. */
  readonly endMs?: number;
}

const SECOND_MS = 1_000;
/** Five or six fields, or a name: the library also takes a single date, which is no schedule. */
const FORM = /^(?:@[A-Za-z]+|\S+(?:[ \t]+\S+){4,5})$/;

/**
 * Reads expressions; nothing runs. Over a change of the clock the library follows the Open Cron Pattern Specification 1.4: a fixed time of day that does not exist is at the moment
 * of the change, one that exists twice is the first, and what has a wildcard or a step in its time goes by elapsed time. Errors: validation, of `spec.cron[n]` or `spec.time_zone`.
 */
export function createCalendar({ cron, timeZone, startMs = Number.NEGATIVE_INFINITY, endMs = Number.POSITIVE_INFINITY }: CalendarOptions): Calendar {
  checkTimeZone(timeZone);
  const parsed = cron.map((text, index) => [text.trim(), parse(text.trim(), timeZone, `spec.cron[${index}]`)] as const);
  // A pattern that stands twice has the same times.
  const patterns = Array.from(new Map(parsed).values(), nextOf);
  return {
    next(afterMs) {
      const fromMs = Math.max(Math.floor(afterMs / SECOND_MS) * SECOND_MS, Math.ceil(startMs / SECOND_MS) * SECOND_MS - SECOND_MS);
      const nextMs = Math.min(...patterns.map((next) => next(fromMs)));
      return nextMs <= endMs && nextMs !== Number.POSITIVE_INFINITY ? nextMs : undefined;
    },
  };
}

/** The first time of a pattern after a moment; it is looked for once for all moments before it, since whoever goes through a schedule's times asks for each again and again. */
function nextOf(pattern: Cron): (afterMs: number) => number {
  let [fromMs, nextMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return (afterMs) => {
    if (afterMs < fromMs || afterMs >= nextMs) [fromMs, nextMs] = [afterMs, pattern.nextRun(new Date(afterMs))?.getTime() ?? Number.POSITIVE_INFINITY];
    return nextMs;
  };
}

function checkTimeZone(timeZone: string): void {
  try {
    // Offsets are taken by the same constructor, and know no daylight saving.
    if (/^[A-Za-z]/.test(timeZone)) {
      new Intl.DateTimeFormat("en", { timeZone });
      return;
    }
  } catch {
    // It says no more than that the name is unknown.
  }
  throw ForgeError.validation("spec.time_zone", `spec.time_zone ${JSON.stringify(timeZone)} is no time zone: write an IANA name such as Europe/Berlin`);
}

function parse(text: string, timezone: string, field: string): Cron {
  const shown = JSON.stringify(text);
  if (!FORM.test(text)) {
    throw ForgeError.validation(
      field,
      `${field} ${shown} is no cron expression: write five fields as in "30 6 * * MON-FRI", six with seconds before them, or @daily`,
    );
  }
  try {
    return new Cron(text, { timezone, mode: "5-or-6-parts", paused: true });
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).replace(/^CronPattern: /, "");
    throw ForgeError.validation(field, `${field} ${shown} is no cron expression: ${why}`, { cause: error });
  }
}
