import { mkdir, realpath, rmdir } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { git, gitRoot } from "./git.ts";
import { refuseCommands } from "./refuse-commands.ts";

/** A worktree in which an agent works by itself. */
export interface Worktree {
  readonly name: string;
  /** What of it is the project: the same part as in the repository. */
  readonly directory: string;
  /** The whole of it. */
  readonly top: string;
  readonly branch: string;
}

/** A worktree with how it stands to where it was asked from. */
export interface WorktreeState extends Worktree {
  /** Files that are changed and in no commit, new ones included. */
  readonly dirty: readonly string[];
  /** Commits that are not in the branch of where it was asked from. */
  readonly ahead: number;
}

interface Repository {
  /** The worktree that was asked from. */
  readonly top: string;
  /** The first worktree, beside which the others lie. */
  readonly main: string;
  /** The project within the repository. */
  readonly inside: string;
}

const BRANCHES = "forge/";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NUMBER_MAX = 1_000;
const LISTED_MAX = 20;

/** Finds a worktree of the repository, or makes it, on a branch of its own that begins with what is checked out. Without a name a new one is made. Errors: validation; conflict. */
export async function openWorktree(root: string, name: string | undefined, environment: NodeJS.ProcessEnv): Promise<Worktree> {
  if (name !== undefined) checkName(name);
  const repository = await repositoryOf(root, environment);
  const known = await list(repository, environment);
  const chosen = name ?? freeName(known);
  const found = known.find((each) => each.name === chosen);
  if (found !== undefined) return found;
  const top = path.join(`${repository.main}.worktrees`, chosen);
  const branch = `${BRANCHES}${chosen}`;
  await mkdir(path.dirname(top), { recursive: true });
  const hasBranch = (await git(repository.top, ["branch", "--list", branch], environment)).trim() !== "";
  await git(repository.top, ["worktree", "add", "--quiet", ...(hasBranch ? [top, branch] : ["-b", branch, top, "HEAD"])], environment);
  return { name: chosen, top, directory: path.join(top, repository.inside), branch };
}

/** The worktrees that were made for agents, and how they stand. */
export async function listWorktrees(root: string, environment: NodeJS.ProcessEnv): Promise<WorktreeState[]> {
  const repository = await repositoryOf(root, environment);
  const states: WorktreeState[] = [];
  for (const worktree of await list(repository, environment)) states.push(await stateOf(repository, worktree, environment));
  return states;
}

export interface MergeOptions {
  readonly name: string;
  /** Commits what is in no commit yet, with this message, before it is merged. */
  readonly commit?: string;
}

/** Merges a worktree's branch into what is checked out at the root, with a commit of its own. Errors: not_found; conflict, WORKTREE_DIRTY, WORKTREE_CONFLICT, NOTHING_TO_MERGE. */
export async function mergeWorktree(
  root: string,
  { name, commit }: MergeOptions,
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly commits: number; readonly head: string }> {
  const repository = await repositoryOf(root, environment);
  const worktree = await named(repository, name, environment);
  const here = await dirtyFiles(repository.top, environment, false);
  if (here.length > 0) throw dirty(`${repository.top} has changes that are in no commit (${listed(here)}): commit or put them away before you merge into it`);
  const there = await dirtyFiles(worktree.top, environment, true);
  if (there.length > 0 && commit === undefined)
    throw dirty(`the worktree ${name} has changes that are in no commit (${listed(there)}): look at them, then merge with --commit "what they are"`);
  if (there.length > 0) {
    await git(worktree.top, ["add", "--all"], environment);
    await git(worktree.top, ["commit", "--quiet", "--message", commit ?? ""], environment);
  }
  const { ahead } = await stateOf(repository, worktree, environment);
  if (ahead === 0) throw new ForgeError(ErrorCode.CONFLICT, `${worktree.branch} has nothing that is not here already`, { reason: "NOTHING_TO_MERGE" });
  try {
    await git(repository.top, ["merge", "--no-ff", "--no-edit", "--quiet", worktree.branch], environment);
  } catch (error) {
    const files = (await git(repository.top, ["diff", "--name-only", "--diff-filter=U"], environment)).trim().split("\n").filter(Boolean);
    if (files.length === 0) throw error;
    await git(repository.top, ["merge", "--abort"], environment);
    throw new ForgeError(
      ErrorCode.CONFLICT,
      `${worktree.branch} and what is here have changed the same lines (${listed(files)}), and nothing was merged: merge by hand (git merge --no-ff ${worktree.branch}), or let an agent bring the worktree up to date first`,
      { reason: "WORKTREE_CONFLICT", cause: error },
    );
  }
  return { commits: ahead, head: (await git(repository.top, ["rev-parse", "HEAD"], environment)).trim() };
}

/** Removes a worktree and its branch. `end` is called once nothing speaks against it, before anything is removed. Errors: not_found; conflict, WORKTREE_DIRTY, WORKTREE_UNMERGED, unless forced. */
export async function removeWorktree(
  root: string,
  { name, force, end }: { readonly name: string; readonly force: boolean; readonly end: (directory: string) => Promise<void> },
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const repository = await repositoryOf(root, environment);
  const worktree = await named(repository, name, environment);
  const { dirty: files, ahead } = await stateOf(repository, worktree, environment);
  if (!force && files.length > 0)
    throw dirty(`the worktree ${name} has changes that are in no commit (${listed(files)}): merge them, or remove it with --force`);
  if (!force && ahead > 0)
    throw new ForgeError(ErrorCode.CONFLICT, `the worktree ${name} has ${ahead} commits that are not here: merge them, or remove it with --force`, {
      reason: "WORKTREE_UNMERGED",
    });
  await end(worktree.directory);
  await git(repository.top, ["worktree", "remove", ...(force ? ["--force"] : []), worktree.top], environment);
  await git(repository.top, ["branch", "--quiet", force ? "-D" : "-d", worktree.branch], environment);
  await rmdir(path.dirname(worktree.top)).catch((error: unknown) => {
    // Others are beside it.
    if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  });
}

async function repositoryOf(root: string, environment: NodeJS.ProcessEnv): Promise<Repository> {
  const top = await gitRoot(root);
  if (top === undefined) throw new ForgeError(ErrorCode.NOT_FOUND, `${root} is in no git repository: worktrees are made of one`, { reason: "NO_REPOSITORY" });
  const real = await realpath(top);
  await refuseCommands(real, root, environment);
  const common = (await git(real, ["rev-parse", "--path-format=absolute", "--git-common-dir"], environment)).trim();
  if ((await git(real, ["rev-list", "--max-count=1", "--all"], environment)).trim() === "")
    throw new ForgeError(ErrorCode.CONFLICT, `${real} has no commit yet, and a worktree begins with one: commit something first`, { reason: "NO_COMMIT" });
  return { top: real, main: path.dirname(common), inside: path.relative(real, await realpath(root)) };
}

async function list({ top, inside }: Repository, environment: NodeJS.ProcessEnv): Promise<Worktree[]> {
  const text = await git(top, ["worktree", "list", "--porcelain"], environment);
  return text.split("\n\n").flatMap((block) => {
    const directory = /^worktree (.*)$/m.exec(block)?.[1];
    const name = /^branch refs\/heads\/forge\/(.*)$/m.exec(block)?.[1];
    if (directory === undefined || name === undefined || /^prunable/m.test(block)) return [];
    return [{ name, top: directory, directory: path.join(directory, inside), branch: `${BRANCHES}${name}` }];
  });
}

async function named(repository: Repository, name: string, environment: NodeJS.ProcessEnv): Promise<Worktree> {
  checkName(name);
  const known = await list(repository, environment);
  const found = known.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = known.map((each) => each.name);
  throw new ForgeError(ErrorCode.NOT_FOUND, `there is no worktree ${name}${names.length === 0 ? "" : `; there are ${listed(names)}`}`, {
    reason: "WORKTREE_NOT_FOUND",
  });
}

async function stateOf({ top }: Repository, worktree: Worktree, environment: NodeJS.ProcessEnv): Promise<WorktreeState> {
  const ahead = Number((await git(top, ["rev-list", "--count", `HEAD..${worktree.branch}`], environment)).trim());
  return { ...worktree, dirty: await dirtyFiles(worktree.top, environment, true), ahead };
}

async function dirtyFiles(top: string, environment: NodeJS.ProcessEnv, hasNew: boolean): Promise<string[]> {
  const text = await git(
    top,
    ["status", "--porcelain", `--untracked-files=${hasNew ? "normal" : "no"}`, "--no-renames", "--ignore-submodules=all", "-z"],
    environment,
  );
  return text
    .split("\0")
    .filter(Boolean)
    .map((entry) => entry.slice(3));
}

function freeName(known: readonly Worktree[]): string {
  const names = new Set(known.map(({ name }) => name));
  for (let number = 1; number <= NUMBER_MAX; number++) if (!names.has(`agent-${number}`)) return `agent-${number}`;
  throw new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `there are ${names.size} worktrees already: remove some, or name one`, { reason: "WORKTREES" });
}

function checkName(name: string): void {
  if (!NAME.test(name) || name.includes("..") || name.endsWith(".lock") || name.endsWith("."))
    throw ForgeError.validation("worktree", "a worktree's name is 1 to 64 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit");
}

function dirty(message: string): ForgeError {
  return new ForgeError(ErrorCode.CONFLICT, message, { reason: "WORKTREE_DIRTY" });
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, LISTED_MAX).join(", ")}${names.length > LISTED_MAX ? ` and ${names.length - LISTED_MAX} more` : ""}`;
}
