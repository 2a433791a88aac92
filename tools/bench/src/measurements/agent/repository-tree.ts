import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { nowMs } from "./clock.ts";

const FILES_PER_DIRECTORY = 100;
const DIRECTORIES_PER_PARENT = 10;
/** One in so many is a source whose definitions are read. */
const SOURCE_EVERY = 10;

/** Files of a made-up repository, relative to it, in directories of a hundred, two levels deep; and the directories. */
export interface TreePlan {
  readonly directories: readonly string[];
  readonly files: readonly string[];
}

export function planTree(count: number): TreePlan {
  const directories = new Set<string>();
  const files = Array.from({ length: count }, (_, index) => {
    const directory = Math.floor(index / FILES_PER_DIRECTORY);
    const parent = `area-${Math.floor(directory / DIRECTORIES_PER_PARENT)}`;
    directories.add(parent);
    directories.add(`${parent}/part-${directory}`);
    return `${parent}/part-${directory}/file-${index}.${index % SOURCE_EVERY === 0 ? "ts" : "txt"}`;
  });
  return { directories: [...directories], files };
}

/** Writes them; the root must exist. */
export function writeTree(root: string, { directories, files }: TreePlan): void {
  for (const directory of directories) mkdirSync(path.join(root, directory));
  for (const [index, file] of files.entries()) {
    const text = file.endsWith(".ts") ? `export function value${index}(): number {\n  return ${index};\n}\n` : `File ${index}.\n`;
    writeFileSync(path.join(root, file), text);
  }
}

/** Milliseconds of one `lstat` of each file and directory by its known path, in one thread: the least that a look at all of them can cost. */
export function lstatPassMs(root: string, { directories, files }: TreePlan): number {
  const paths = [...directories, ...files].map((relative) => `${root}/${relative}`);
  const began = nowMs();
  for (const each of paths) lstatSync(each);
  return nowMs() - began;
}
