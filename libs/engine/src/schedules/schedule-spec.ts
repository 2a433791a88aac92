import { create, fromBinary } from "@bufbuild/protobuf";
import { type Duration, durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { OverlapPolicy, OverlapPolicySchema, type ScheduleSpec, ScheduleSpecSchema } from "@forge/protocol/workflow";
import { checkTime } from "../services/check.ts";
import { enumName } from "../services/enum-name.ts";
import { type Calendar, createCalendar } from "./calendar.ts";

const CRON_MAX = 16;
const CRON_LENGTH_MAX = 256;
const JITTER_MS_MAX = 3_600_000;
const CATCH_UP_MS_MAX = 30 * 86_400_000;
/** A time is looked at a moment after it has come, on a busy machine some seconds after. */
const CATCH_UP_MS_MIN = 10_000;
const CATCH_UP_SECONDS_DEFAULT = 60n;

/** When a schedule's runs start, as the engine computes with it. */
export interface Timing {
  readonly calendar: Calendar;
  readonly overlap: OverlapPolicy;
  readonly jitterMs: number;
  readonly catchUpMs: number;
}

/** The timing of a spec that was checked when it was put. Errors: validation, where a time zone is unknown to this version. */
export function timingOf(bytes: Uint8Array): Timing {
  const spec = fromBinary(ScheduleSpecSchema, bytes);
  return {
    calendar: calendarOf(spec),
    overlap: spec.overlap,
    jitterMs: spec.jitter === undefined ? 0 : durationMs(spec.jitter),
    catchUpMs: Math.max(CATCH_UP_MS_MIN, spec.catchUpWindow === undefined ? 0 : durationMs(spec.catchUpWindow)),
  };
}

/** What a spec says of times, with defaults in place and without its run. Errors: validation. */
export function checkTiming(spec: ScheduleSpec, nowMs: number): ScheduleSpec {
  const { cron } = spec;
  if (cron.length === 0 || cron.length > CRON_MAX) throw ForgeError.validation("spec.cron", `spec.cron has ${cron.length} expressions: write 1 to ${CRON_MAX}`);
  for (const [index, text] of cron.entries()) {
    const field = `spec.cron[${index}]`;
    if (text.length > CRON_LENGTH_MAX) throw ForgeError.validation(field, `${field} has ${text.length} characters: at most ${CRON_LENGTH_MAX}`);
  }
  enumName(OverlapPolicySchema, spec.overlap, "spec.overlap");
  checkDuration(spec.jitter, "spec.jitter", JITTER_MS_MAX, "1 hour");
  checkDuration(spec.catchUpWindow, "spec.catch_up_window", CATCH_UP_MS_MAX, "30 days");
  const startMs = checkTime(spec.startAt, "spec.start_at");
  const endMs = checkTime(spec.endAt, "spec.end_at");
  const checked = create(ScheduleSpecSchema, {
    cron: cron.map((text) => text.trim()),
    timeZone: spec.timeZone === "" ? "UTC" : spec.timeZone,
    startAt: spec.startAt,
    endAt: spec.endAt,
    jitter: spec.jitter,
    overlap: spec.overlap === OverlapPolicy.UNSPECIFIED ? OverlapPolicy.SKIP : spec.overlap,
    catchUpWindow: spec.catchUpWindow ?? { seconds: CATCH_UP_SECONDS_DEFAULT },
  });
  const calendar = calendarOf(checked);
  if (endMs !== undefined && startMs !== undefined && endMs < startMs) throw ForgeError.validation("spec.end_at", "spec.end_at lies before spec.start_at");
  for (const [index, text] of checked.cron.entries()) {
    // Looked for to the end of time at every look at the schedule, and never found.
    const isDead = createCalendar({ cron: [text], timeZone: checked.timeZone }).next(nowMs) === undefined;
    if (isDead) throw ForgeError.validation(`spec.cron[${index}]`, `"${text}" names no time that there is`);
  }
  if (calendar.next(nowMs) === undefined) {
    throw ForgeError.validation(endMs === undefined ? "spec.cron" : "spec.end_at", "no time is to come: the expressions name none, or none before spec.end_at");
  }
  return checked;
}

function calendarOf({ cron, timeZone, startAt, endAt }: ScheduleSpec): Calendar {
  return createCalendar({
    cron,
    timeZone,
    ...(startAt === undefined ? {} : { startMs: timestampMs(startAt) }),
    ...(endAt === undefined ? {} : { endMs: timestampMs(endAt) }),
  });
}

function checkDuration(duration: Duration | undefined, field: string, msMax: number, shownMax: string): void {
  if (duration === undefined) return;
  const { seconds, nanos } = duration;
  const ms = Number(seconds) * 1_000 + nanos / 1_000_000;
  if (!(ms >= 0 && ms <= msMax) || seconds < 0n || nanos < 0 || nanos > 999_999_999) throw ForgeError.validation(field, `${field} must be 0 to ${shownMax}`);
}
