import { durationMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type ListScheduleTimesResponse,
  OverlapPolicySchema,
  type Schedule,
  ScheduleOutcomeSchema,
  type ScheduleSummary,
  type ScheduleTime,
} from "@forge/protocol/workflow";
import { formatDuration, momentMs } from "../output/format-time.ts";
import { enumName } from "../output/message-json.ts";
import type { Style } from "../output/style.ts";
import { type Column, table } from "../output/table.ts";
import { oneLine } from "../output/text.ts";

const LIST_COLUMNS: readonly Column[] = [
  { title: "SCHEDULE" },
  { title: "WHEN" },
  { title: "TIME ZONE" },
  { title: "WORKFLOW" },
  { title: "NEXT" },
  { title: "LAST RUN" },
  { title: "NOTE", shrinks: true },
];
const PAST_COLUMNS: readonly Column[] = [{ title: "TIME" }, { title: "OUTCOME" }, { title: "RUN" }, { title: "WHY", shrinks: true }];

/** Day and time in a time zone: 2026-03-01 14:03:07. */
export function momentIn(timestamp: Timestamp, timeZone: string): string {
  // The Swedish way of writing it is the international one.
  return new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" }).format(momentMs(timestamp));
}

/** Schedules as a table, the titles first. */
export function scheduleTable(schedules: readonly ScheduleSummary[], style: Style, width: number): string[] {
  const rows = schedules.map(({ scheduleId, cron, timeZone, workflowId, workflowVersion, paused, nextAt, lastRunId, note }) => [
    scheduleId,
    cron.join(" | "),
    timeZone,
    `${workflowId}@${workflowVersion}`,
    paused ? "paused" : nextAt === undefined ? "-" : momentIn(nextAt, timeZone),
    lastRunId || "-",
    oneLine(note),
  ]);
  return titled(LIST_COLUMNS, rows, style, width);
}

/** A schedule, its next times and its past ones. */
export function scheduleLines({ spec, ...schedule }: Schedule, { upcoming, past }: ListScheduleTimesResponse, style: Style, width: number): string[] {
  const { cron = [], timeZone = "UTC", overlap = 0, jitter, catchUpWindow, startAt, endAt, run } = spec ?? {};
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["workflow", `${run?.definition?.id}@${run?.definition?.version}`],
    ["when", `${cron.join(" | ")}  ${timeZone}`],
    ["from", startAt && momentIn(startAt, timeZone)],
    ["until", endAt && momentIn(endAt, timeZone)],
    ["overlap", enumName(OverlapPolicySchema, overlap).toLowerCase()],
    ["catch-up", catchUpWindow && formatDuration(durationMs(catchUpWindow))],
    ["jitter", jitter && formatDuration(durationMs(jitter))],
    ["note", schedule.note === "" ? undefined : oneLine(schedule.note)],
  ];
  const next = schedule.paused ? ["  paused"] : upcoming.length === 0 ? ["  none to come"] : upcoming.map((time) => `  ${momentIn(time, timeZone)}`);
  const rows = past.map((time) => pastRow(time, timeZone));
  return [
    style.bold(schedule.scheduleId),
    ...facts.flatMap(([name, value]) => (value === undefined ? [] : [`  ${style.dim(name.padEnd(9))} ${value}`])),
    "",
    style.bold("Next times"),
    ...next,
    ...(rows.length === 0 ? [] : ["", style.bold("Past times"), ...titled(PAST_COLUMNS, rows, style, width)]),
  ];
}

function pastRow({ scheduledAt, outcome, runId, error, commandId, count }: ScheduleTime, timeZone: string): string[] {
  const what = enumName(ScheduleOutcomeSchema, outcome).toLowerCase();
  return [
    scheduledAt === undefined ? "-" : momentIn(scheduledAt, timeZone),
    count > 1 ? `${what} (${count} times)` : commandId === "" ? what : `${what} by hand`,
    runId || "-",
    oneLine(error?.message ?? ""),
  ];
}

function titled(columns: readonly Column[], rows: readonly (readonly string[])[], style: Style, width: number): string[] {
  const [titles = "", ...lines] = table(columns, rows, width);
  return [style.dim(titles), ...lines];
}
