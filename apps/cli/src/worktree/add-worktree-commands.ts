import type { Command } from "commander";
import type { Action } from "../action.ts";

type AddCommand = (usage: string, description: string, action: Action, parent?: Command) => Command;

/** `forge worktree`: the worktrees of agents that work beside each other. */
export function addWorktreeCommands(program: Command, local: AddCommand): void {
  const worktree = program.command("worktree").description("list, merge or remove the git worktrees that agents work in; see its own help").exitOverride();
  local(
    "list",
    "list them, with their changes and commits",
    async (ctx, _, options) => {
      const { listWorktreesCommand } = await import("./worktree-commands.ts");
      return listWorktreesCommand(ctx, options);
    },
    worktree,
  );
  local(
    "merge <name>",
    "merge what an agent did into what is checked out here, with a commit of its own",
    async (ctx, [name], options) => {
      const { mergeWorktreeCommand } = await import("./worktree-commands.ts");
      return mergeWorktreeCommand(ctx, name as string, options);
    },
    worktree,
  ).option("--commit <message>", "first commit what is in no commit yet there");
  local(
    "remove <name>",
    "remove a worktree with its branch and its sessions",
    async (ctx, [name], options) => {
      const { removeWorktreeCommand } = await import("./worktree-commands.ts");
      return removeWorktreeCommand(ctx, name as string, options);
    },
    worktree,
  ).option("--force", "also where it has changes or commits that are nowhere else");
}
