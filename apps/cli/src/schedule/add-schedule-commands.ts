import { type Command, Option } from "commander";
import type { Action } from "../action.ts";
import { commandOptions } from "../arguments/command-options.ts";
import { collect, collectLabel, oneOf, parseLifetime, wholeNumber } from "../arguments/parsers.ts";
import { OVERLAPS, parseMoment } from "./schedule-arguments.ts";

type AddCommand = (usage: string, description: string, action: Action, parent: Command) => Command;

const UPCOMING_DEFAULT = 5;
const UPCOMING_MAX = 100;
const PAST_DEFAULT = 10;
const PAST_MAX = 1_000;

/** `forge schedule`: runs that start by themselves. */
export function addScheduleCommands(program: Command, add: AddCommand): void {
  const schedule = program.command("schedule").description("start runs by themselves, at times; see its own help").exitOverride();

  add(
    "put <id> <workflow>",
    "create a schedule, or replace it, with a workflow as it is now",
    async (ctx, [id, workflow], options) => {
      const { putScheduleCommand } = await import("./put-schedule-command.ts");
      return putScheduleCommand(ctx, id as string, workflow as string, options);
    },
    schedule,
  )
    .addOption(
      new Option("--cron <expression>", 'when: "30 6 * * MON-FRI", with seconds before it, or @daily; may be repeated')
        .argParser(collect)
        .makeOptionMandatory(),
    )
    .option("--timezone <name>", "an IANA name, as Europe/Berlin (default: UTC)")
    .option(
      "--overlap <policy>",
      `while the run before is active: ${OVERLAPS.map((name) => name.toLowerCase().replace("_", "-")).join(", ")} (default: skip)`,
      oneOf(OVERLAPS),
    )
    .option("--catch-up <duration>", "how far back times are made up for that passed while nothing served, at most 30d (default: 1m)", parseLifetime)
    .option("--jitter <duration>", "each start is late by up to so much, at most 1h", parseLifetime)
    .option("--start <time>", "no time before, as 2026-12-24T18:00:00Z", parseMoment)
    .option("--end <time>", "no time after", parseMoment)
    .option("-i, --input <name=value>", "an input; name=@file reads a file, name=json:... takes JSON; may be repeated", collect)
    .option("--model <provider/model>", "replaces the model of every agent step")
    .addOption(new Option("--label <key=value>", "a label of its runs; may be repeated").argParser(collectLabel))
    .addOption(new Option("--approve", "answers yes to every question that a tool call raises").conflicts("deny"))
    .option("--deny", "answers no to every question that a tool call raises")
    .option("--note <text>", "what it is for")
    .option("--paused", "starts nothing until it is continued");

  add(
    "list",
    "list schedules, by id",
    async (ctx, _, options) => {
      const { listSchedulesCommand } = await import("./schedule-commands.ts");
      return listSchedulesCommand(ctx, options);
    },
    schedule,
  );

  add(
    "show <id>",
    "show a schedule, its next times, and what became of its past ones",
    async (ctx, [id], options) => {
      const { showScheduleCommand } = await import("./schedule-commands.ts");
      return showScheduleCommand(ctx, id as string, options);
    },
    schedule,
  )
    .option("--next <number>", "so many times to come", wholeNumber(0, UPCOMING_MAX), UPCOMING_DEFAULT)
    .option("--limit <number>", "at most so many past ones", wholeNumber(1, PAST_MAX), PAST_DEFAULT);

  add(
    "pause <id>",
    "let no time start a run until the schedule is continued",
    async (ctx, [id], options) => {
      const { pauseScheduleCommand } = await import("./schedule-commands.ts");
      return pauseScheduleCommand(ctx, id as string, options);
    },
    schedule,
  ).option("--note <text>", "why");

  add(
    "continue <id>",
    "let times start runs again; those of the pause are not made up for",
    async (ctx, [id], options) => {
      const { continueScheduleCommand } = await import("./schedule-commands.ts");
      return continueScheduleCommand(ctx, id as string, options);
    },
    schedule,
  ).option("--note <text>", "in place of why it was paused");

  add(
    "delete <id>",
    "forget a schedule; its runs go on",
    async (ctx, [id], options) => {
      const { deleteScheduleCommand } = await import("./schedule-commands.ts");
      return deleteScheduleCommand(ctx, id as string, options);
    },
    schedule,
  );

  add(
    "trigger <id>",
    "start a schedule's run now, whatever its policy says",
    async (ctx, [id], options) => {
      const { triggerScheduleCommand } = await import("./schedule-commands.ts");
      return triggerScheduleCommand(ctx, id as string, options);
    },
    schedule,
  ).addOption(commandOptions()[0]);
}
