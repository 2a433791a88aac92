import path from "node:path";
import { findProject } from "@forge/workflow/find-project";
import type { CommonOptions, Context } from "../context.ts";
import { hintFor, type LocatedProject, locateProject } from "../server/locate-project.ts";
import { gitRoot } from "../worktree/git.ts";
import { openWorktree } from "../worktree/worktrees.ts";

export interface LocatedWorkspace extends LocatedProject {
  /** Of a worktree: the project that it was made of. */
  readonly of?: string;
}

/**
 * Where an agent works: the project, as for every command; without one the repository that the directory is in; with --worktree a worktree of it, which is
 * made where it is missing.
 */
export async function locateWorkspace(
  context: Context,
  options: CommonOptions & { readonly worktree?: string | true },
  { hasData }: { readonly hasData: boolean },
): Promise<LocatedWorkspace> {
  const { directory } = context;
  const root = options.project === undefined && (await findProject(directory)) === undefined ? await gitRoot(directory) : undefined;
  const located = root === undefined ? await locateProject(context, options, { hasData }) : { root, hint: await hintFor(root, directory) };
  if (options.worktree === undefined) return located;
  const worktree = await openWorktree(located.root, options.worktree === true ? undefined : options.worktree, context.environment);
  return { of: located.root, root: worktree.directory, hint: ` -p ${quoted(path.relative(directory, worktree.directory) || ".")}` };
}

function quoted(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
