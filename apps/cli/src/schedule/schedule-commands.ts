import type { ForgeClient } from "@forge/client";
import {
  type ListScheduleTimesResponse,
  ListScheduleTimesResponseSchema,
  type Schedule,
  ScheduleSchema,
  type ScheduleSummary,
  ScheduleSummarySchema,
  TriggerScheduleResponseSchema,
} from "@forge/protocol/workflow";
import type { CommandOptions } from "../arguments/command-options.ts";
import { headerOf } from "../arguments/header-of.ts";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageJson, messageLine } from "../output/message-json.ts";
import { openExisting, openReading } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { momentIn, scheduleLines, scheduleTable } from "./schedule-lines.ts";

export interface ShowScheduleOptions extends ServerOptions {
  /** How many times to come. */
  readonly next: number;
  /** How many past ones at most. */
  readonly limit: number;
}

export interface PauseScheduleOptions extends ServerOptions {
  readonly note?: string;
}

export type TriggerScheduleOptions = ServerOptions & CommandOptions;

const PAGE_MAX = 500;

/** `forge schedule list`. */
export async function listSchedulesCommand(context: Context, options: ServerOptions): Promise<number> {
  const { terminal } = context;
  const schedules = await readSchedules(context, options);
  if (options.json === true) for (const schedule of schedules) terminal.print(messageLine(ScheduleSummarySchema, schedule));
  else if (schedules.length === 0) terminal.note("no schedules");
  else for (const line of scheduleTable(schedules, terminal.style, terminal.isLive ? terminal.columns() : Number.MAX_SAFE_INTEGER)) terminal.print(line);
  return EXIT.OK;
}

/** `forge schedule show`. */
export async function showScheduleCommand(context: Context, scheduleId: string, options: ShowScheduleOptions): Promise<number> {
  const { terminal } = context;
  const { link } = await openExisting(context, options, { reads: true });
  try {
    const { schedule } = await link.call((client) => client.schedule.getSchedule({ scheduleId }));
    const times = await readTimes(link, scheduleId, options);
    if (options.json === true) {
      terminal.print(JSON.stringify({ schedule: messageJson(ScheduleSchema, schedule as Schedule), ...messageJson(ListScheduleTimesResponseSchema, times) }));
      return EXIT.OK;
    }
    const width = terminal.isLive ? terminal.columns() : Number.MAX_SAFE_INTEGER;
    for (const line of scheduleLines(schedule as Schedule, times, terminal.style, width)) terminal.print(line);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

/** `forge schedule pause`. */
export async function pauseScheduleCommand(context: Context, scheduleId: string, options: PauseScheduleOptions): Promise<number> {
  return await change(context, scheduleId, options, (client) => client.schedule.pauseSchedule({ scheduleId, note: options.note }));
}

/** `forge schedule continue`. */
export async function continueScheduleCommand(context: Context, scheduleId: string, options: PauseScheduleOptions): Promise<number> {
  return await change(context, scheduleId, options, (client) => client.schedule.continueSchedule({ scheduleId, note: options.note }));
}

/** `forge schedule delete`. */
export async function deleteScheduleCommand(context: Context, scheduleId: string, options: ServerOptions): Promise<number> {
  const { link } = await openExisting(context, options, { reads: false, code: "all" });
  try {
    await link.call((client) => client.schedule.deleteSchedule({ scheduleId }));
    context.terminal.print(options.json === true ? "{}" : `Schedule ${scheduleId} is gone; runs that it has started go on.`);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

/** `forge schedule trigger`. */
export async function triggerScheduleCommand(context: Context, scheduleId: string, options: TriggerScheduleOptions): Promise<number> {
  const { link, hint } = await openExisting(context, { ...options, foreground: false }, { reads: false, code: "all" });
  try {
    const header = headerOf(options);
    const started = await link.call((client) => client.schedule.triggerSchedule({ header, scheduleId }));
    if (options.json === true) context.terminal.print(messageLine(TriggerScheduleResponseSchema, started));
    else
      context.terminal.print(
        `run ${started.runId}\n  npx forge events ${started.runId} --follow --children${hint}\n  npx forge inspect ${started.runId}${hint}`,
      );
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

async function change(
  context: Context,
  scheduleId: string,
  options: ServerOptions,
  make: (client: ForgeClient) => Promise<{ readonly schedule?: Schedule }>,
): Promise<number> {
  const { link } = await openExisting(context, options, { reads: false, code: "all" });
  try {
    const schedule = (await link.call(make)).schedule as Schedule;
    const next = schedule.nextAt === undefined ? "has no time to come" : `starts next at ${momentIn(schedule.nextAt, schedule.spec?.timeZone ?? "UTC")}`;
    context.terminal.print(options.json === true ? messageLine(ScheduleSchema, schedule) : `Schedule ${scheduleId} ${schedule.paused ? "is paused" : next}.`);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

async function readSchedules(context: Context, options: ServerOptions): Promise<readonly ScheduleSummary[]> {
  const opened = await openReading(context, options);
  if (opened === undefined) return [];
  const { link } = opened;
  try {
    const all: ScheduleSummary[] = [];
    for (let pageToken = ""; ; ) {
      const page = await link.call((client) => client.schedule.listSchedules({ pageSize: PAGE_MAX, pageToken }));
      all.push(...page.schedules);
      if (page.nextPageToken === "") return all;
      pageToken = page.nextPageToken;
    }
  } finally {
    await link.close();
  }
}

/** The newest past times, over pages. */
async function readTimes(link: ProjectLink, scheduleId: string, { next, limit }: ShowScheduleOptions): Promise<ListScheduleTimesResponse> {
  const read = (pageToken: string, count: number) =>
    link.call((client) => client.schedule.listScheduleTimes({ scheduleId, upcoming: next, pageSize: Math.min(PAGE_MAX, count), pageToken }));
  const first = await read("", limit);
  let { nextPageToken } = first;
  while (nextPageToken !== "" && first.past.length < limit) {
    const page = await read(nextPageToken, limit - first.past.length);
    first.past.push(...page.past);
    nextPageToken = page.nextPageToken;
  }
  return { ...first, nextPageToken: "" };
}
