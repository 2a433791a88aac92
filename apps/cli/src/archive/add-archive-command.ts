import { type Command, Option } from "commander";
import type { Action } from "../action.ts";
import { parseLifetime } from "../arguments/parsers.ts";

type AddCommand = (usage: string, description: string, action: Action) => Command;

const OLDER_THAN_DEFAULT_MS = 30 * 86_400_000;

/** `forge archive`. */
export function addArchiveCommand(command: AddCommand): void {
  command("archive [run]", "move ended runs out of the way: they are read, replayed and forked as before, and change no more", async (ctx, [id], options) => {
    const { archiveCommand } = await import("./archive-command.ts");
    return archiveCommand(ctx, id, options);
  })
    .addOption(new Option("--older-than <duration>", "those that ended longer ago").argParser(parseLifetime).default(OLDER_THAN_DEFAULT_MS, "30d"))
    .option("--dry-run", "only say which")
    .addOption(new Option("--foreground", "serve the project in this process, and end that with the command; the default where CI is set"));
}
