import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { dataDirectoryOf } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { findProject } from "@forge/workflow/find-project";
import type { CommonOptions, Context } from "../context.ts";

export interface LocatedProject {
  readonly root: string;
  /** What a later command in this directory must say to mean the same project: "" or " -p <directory>". */
  readonly hint: string;
}

const DEPTH_MAX = 3;
const DIRECTORIES_MAX = 2_000;

/**
 * The project that a command is about: the one that was named, else the nearest one above, else this directory. A command about something that exists
 * already may also mean the only project below that has data: a run of `forge run some/project` is then found from where it was started.
 */
export async function locateProject({ directory }: Context, { project }: CommonOptions, options: { readonly hasData: boolean }): Promise<LocatedProject> {
  if (project !== undefined) {
    const root = path.resolve(directory, project);
    if (!(await isDirectory(root)))
      throw new ForgeError(ErrorCode.NOT_FOUND, `there is no directory ${root}`, { reason: "PROJECT_NOT_FOUND", metadata: { file: root } });
    return { root, hint: await hintFor(root, directory) };
  }
  const above = await findProject(directory);
  if (above !== undefined) return { root: above, hint: "" };
  if (options.hasData) {
    const [only, ...others] = await projectsBelow(directory);
    if (only !== undefined && others.length > 0) {
      const named = [only, ...others].slice(0, 10).map((root) => path.relative(directory, root));
      throw ForgeError.validation("project", `there are several projects below ${directory}: name one with --project (${named.join(", ")})`, {
        reason: "PROJECT_AMBIGUOUS",
      });
    }
    if (only !== undefined) return { root: only, hint: await hintFor(only, directory) };
  }
  return { root: directory, hint: "" };
}

/** What a command in this directory must say to mean the project. */
export async function hintFor(root: string, directory: string): Promise<string> {
  const found = (await findProject(directory)) ?? directory;
  if (path.resolve(found) === path.resolve(root)) return "";
  const name = path.relative(directory, root) || ".";
  return ` -p ${/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`}`;
}

/** Whether anything has ever been kept for the project. */
export async function hasData(root: string): Promise<boolean> {
  return isDirectory(dataDirectoryOf(root));
}

async function projectsBelow(directory: string): Promise<string[]> {
  const found: string[] = [];
  let level = [directory];
  let seen = 0;
  for (let depth = 0; depth < DEPTH_MAX && seen < DIRECTORIES_MAX; depth++) {
    const next: string[] = [];
    for (const parent of level) {
      for (const child of await directoriesIn(parent)) {
        seen++;
        // What can't be looked into is nobody's here.
        if (await hasData(child).catch(() => false)) found.push(child);
        else next.push(child);
      }
    }
    level = next;
  }
  return found;
}

async function directoriesIn(directory: string): Promise<string[]> {
  // What can't be listed holds no project of this person's.
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
    .map(({ name }) => path.join(directory, name));
}

async function isDirectory(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isDirectory();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}
