import type { Command } from "commander";
import type { Action } from "../action.ts";

type AddCommand = (usage: string, description: string, action: Action) => Command;

/** Commands about a project's files. They need no server. */
export function addProjectCommands(local: AddCommand): void {
  local("init [directory]", "make a new project with one working example", async (ctx, [directory], options) => {
    const { initCommand } = await import("./init-command.ts");
    return initCommand(ctx, directory, options);
  });

  local("list", "list the workflows and agents of the project", async (ctx, _, options) => {
    const { listCommand } = await import("./list-command.ts");
    return listCommand(ctx, options);
  });

  local("check [workflow]", "check workflows without running them: all of the project, or one", async (ctx, [reference], options) => {
    const { checkCommand } = await import("./check-command.ts");
    return checkCommand(ctx, reference, options);
  });
}
