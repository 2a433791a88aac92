import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { look } from "./look.ts";

/** References that are looked at; a repository with more has the rest packed. */
const REFERENCES_MAX = 2_000;
const DEPTH_MAX = 8;
/** Files that say what git does in a repository, or where it finds that. */
const LED_BY = ["config", "config.worktree", "commondir"];

/** What of a repository is not among its files and matters to people: name and state. Without git, nothing. */
export function gitMarks(root: string): Map<string, string> {
  const marks = new Map<string, string>();
  const own = gitDirectory(root);
  if (own === undefined) return marks;
  const common = commonDirectory(own);
  marks.set("git HEAD", textOf(join(own, "HEAD")));
  for (const name of ["config", "packed-refs"]) marks.set(`git ${name}`, stampOf(join(common, name)));
  addReferences(join(common, "refs"), "refs", marks, 0);
  for (const name of namesIn(join(common, "hooks"))) marks.set(`git hooks/${name}`, stampOf(join(common, "hooks", name)));
  return marks;
}

/** Repositories inside of a workspace that are looked at. */
const REPOSITORIES_MAX = 500;

/**
 * The same of repositories in directories of a workspace, given by their paths below its root: that they are there, and what git runs or is led by when somebody
 * uses it in such a directory.
 */
export function nestedMarks(root: string, directories: readonly string[]): Map<string, string> {
  const marks = new Map<string, string>();
  for (const directory of directories.slice(0, REPOSITORIES_MAX)) {
    const path = join(root, directory, ".git");
    const name = `git ${directory}/.git`;
    const stat = look(path);
    if (stat === undefined) continue;
    // A directory's own stamp changes with whatever git does.
    marks.set(name, stat.isDirectory() ? "directory" : stampOf(path));
    for (const led of LED_BY) {
      const stamp = stampOf(join(path, led));
      if (stamp !== "") marks.set(`${name}/${led}`, stamp);
    }
    for (const hook of namesIn(join(path, "hooks"))) marks.set(`${name}/hooks/${hook}`, stampOf(join(path, "hooks", hook)));
  }
  return marks;
}

/** What changed between two looks, for people. */
export function markedChanges(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}

/** Where the repository of a workspace is; a worktree's names it in a file. */
function gitDirectory(root: string): string | undefined {
  const path = join(root, ".git");
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return path;
  if (!stat?.isFile()) return undefined;
  const [, target] = /^gitdir: (.+)$/m.exec(textOf(path)) ?? [];
  return target === undefined ? undefined : resolve(root, target);
}

function commonDirectory(own: string): string {
  const common = textOf(join(own, "commondir"));
  return common === "" ? own : resolve(own, common);
}

function addReferences(directory: string, name: string, marks: Map<string, string>, depth: number): void {
  if (depth > DEPTH_MAX) return;
  for (const child of namesIn(directory)) {
    if (marks.size >= REFERENCES_MAX) return;
    const path = join(directory, child);
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) addReferences(path, `${name}/${child}`, marks, depth + 1);
    else marks.set(`git ${name}/${child}`, stampOf(path));
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    // There is none: nothing is in it.
    return [];
  }
}

/** Short texts only; empty where there is none. */
function textOf(path: string): string {
  try {
    const stat = lstatSync(path);
    return stat.isFile() && stat.size <= 64 * 1024 ? readFileSync(path, "utf8").trim() : "";
  } catch {
    return "";
  }
}

function stampOf(path: string): string {
  const stat = look(path);
  return stat === undefined ? "" : `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`;
}
