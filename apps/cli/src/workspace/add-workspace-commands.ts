import { type Command, Option } from "commander";
import type { Action } from "../action.ts";
import { collect, wholeNumber } from "../arguments/parsers.ts";

type AddCommand = (usage: string, description: string, action: Action, parent: Command) => Command;

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 10_000;

/** `forge workspace`: states of directories, kept and restored. */
export function addWorkspaceCommands(program: Command, add: AddCommand): void {
  const workspace = program.command("workspace").description("keep, compare and restore states of a directory; see its own help").exitOverride();
  const exclude = (): Option =>
    new Option("--exclude <path>", "leave out this path, or every file or directory of this name; may be repeated").argParser(collect);

  add(
    "snapshot [directory]",
    "keep the state of a directory, by default the project's, and print the revision's id",
    async (ctx, [directory], options) => {
      const { snapshotCommand } = await import("./snapshot-command.ts");
      return snapshotCommand(ctx, directory, options);
    },
    workspace,
  )
    .option("--label <text>", "what it is called, to list by")
    .addOption(exclude());

  add(
    "list",
    "list revisions, newest first",
    async (ctx, _, options) => {
      const { listRevisionsCommand } = await import("./list-revisions-command.ts");
      return listRevisionsCommand(ctx, options);
    },
    workspace,
  )
    .option("--label <text>", "only those that are called so")
    .option("--limit <number>", "at most so many", wholeNumber(1, LIMIT_MAX), LIMIT_DEFAULT);

  add(
    "show <id>",
    "show a revision with all that it holds",
    async (ctx, [id], options) => {
      const { showRevisionCommand } = await import("./show-revision-command.ts");
      return showRevisionCommand(ctx, id as string, options);
    },
    workspace,
  );

  add(
    "restore <id> <directory>",
    "make a directory, which is empty or does not exist yet, what a revision says",
    async (ctx, [id, directory], options) => {
      const { restoreCommand } = await import("./restore-command.ts");
      return restoreCommand(ctx, id as string, directory as string, options);
    },
    workspace,
  );

  add(
    "drift <id> [directory]",
    "show how a directory, by default the project's, differs from a revision; ends with 1 where it does",
    async (ctx, [id, directory], options) => {
      const { driftCommand } = await import("./drift-command.ts");
      return driftCommand(ctx, id as string, directory, options);
    },
    workspace,
  ).addOption(exclude());
}
