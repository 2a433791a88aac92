import { ForgeError } from "@forge/protocol";
import { findProject } from "@forge/workflow/find-project";
import type { CommonOptions, Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { oneLine } from "../output/text.ts";
import { locateProject } from "../server/locate-project.ts";
import { downCommand } from "../up/down-command.ts";
import { gitRoot } from "./git.ts";
import { listWorktrees, mergeWorktree, removeWorktree, type WorktreeState } from "./worktrees.ts";

/** `forge worktree list` */
export async function listWorktreesCommand(context: Context, options: CommonOptions): Promise<number> {
  const { terminal, environment } = context;
  const worktrees = await listWorktrees(await rootOf(context, options), environment);
  if (options.json === true) for (const each of worktrees) terminal.print(JSON.stringify(jsonOf(each)));
  else if (worktrees.length === 0) terminal.note("there are no worktrees of agents: forge chat --worktree makes one");
  else {
    for (const { name, directory, dirty, ahead } of worktrees) {
      const state = [
        ...(dirty.length === 0 ? [] : [`${counted(dirty.length, "file")} in no commit`]),
        ...(ahead === 0 ? [] : [`${counted(ahead, "commit")} ahead`]),
      ];
      terminal.print(`${terminal.style.bold(name)}  ${state.length === 0 ? "nothing new" : state.join(", ")}  ${terminal.style.dim(oneLine(directory))}`);
    }
  }
  return EXIT.OK;
}

/** `forge worktree merge` */
export async function mergeWorktreeCommand(context: Context, name: string, options: CommonOptions & { readonly commit?: string }): Promise<number> {
  const { terminal, environment } = context;
  if (options.commit?.trim() === "") throw ForgeError.validation("commit", 'a commit needs a message: --commit "what was done"');
  const { commits, head } = await mergeWorktree(await rootOf(context, options), { name, commit: options.commit }, environment);
  terminal.print(
    options.json === true ? JSON.stringify({ merged: { name, commits, head } }) : `Merged ${counted(commits, "commit")} of ${name} as ${head.slice(0, 12)}.`,
  );
  return EXIT.OK;
}

/** `forge worktree remove` */
export async function removeWorktreeCommand(context: Context, name: string, options: CommonOptions & { readonly force?: boolean }): Promise<number> {
  const { terminal, environment } = context;
  const silent = (): void => undefined;
  const quiet: Context = { ...context, terminal: { ...terminal, isLive: false, out: silent, print: silent, note: silent } };
  // Its own server, where one runs, holds files in it.
  const end = async (worktree: string): Promise<void> => void (await downCommand(quiet, { project: worktree, drain: 0 }));
  await removeWorktree(await rootOf(context, options), { name, force: options.force === true, end }, environment);
  terminal.print(options.json === true ? JSON.stringify({ removed: name }) : `Removed ${name}.`);
  return EXIT.OK;
}

async function rootOf(context: Context, options: CommonOptions): Promise<string> {
  const { directory } = context;
  if (options.project === undefined && (await findProject(directory)) === undefined) return (await gitRoot(directory)) ?? directory;
  return (await locateProject(context, options, { hasData: false })).root;
}

function jsonOf({ name, directory, branch, dirty, ahead }: WorktreeState): object {
  return { name, directory, branch, dirty, ahead };
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
