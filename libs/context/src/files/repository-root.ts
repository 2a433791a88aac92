import { dirname, join } from "node:path";
import { lstatIfThere } from "./lstat-if-there.ts";

/** Directories upwards that are looked at. */
const LEVELS_MAX = 32;

/**
 * The nearest directory, from the workspace upwards, with a `.git` in it; the workspace itself where there is none. One that somebody else owns is not gone
 * into, so that nobody can put rules above the directories of others.
 */
export function repositoryRoot(workspace: string): string {
  const owner = process.getuid?.();
  let directory = workspace;
  for (let level = 0; level < LEVELS_MAX; level++) {
    if (lstatIfThere(join(directory, ".git")) !== undefined) return directory;
    const parent = dirname(directory);
    if (parent === directory || (owner !== undefined && lstatIfThere(parent)?.uid !== owner)) return workspace;
    directory = parent;
  }
  return workspace;
}
