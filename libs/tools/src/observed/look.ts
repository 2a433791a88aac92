import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import type { FileNode, Stamp } from "./manifest.ts";

/** Two writes within a tick of the file system's clock leave one time; no tick is longer. */
const TICK_MS = 20;

export function stampOf({ ino, mtimeMs, ctimeMs }: Stats): Stamp {
  return { ino, mtimeMs, ctimeMs };
}

export function stampText({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/** What is there; undefined also where this user may not look. */
export function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Whether a file is not the one that is known. */
export function isOther(known: FileNode | undefined, stat: Stats | undefined): boolean {
  return known === undefined || stat === undefined ? (known === undefined) !== (stat === undefined) : !isSame(known, stat);
}

export function isSame(known: Stamp | undefined, stat: Stats): boolean {
  return known !== undefined && known.ino === stat.ino && known.mtimeMs === stat.mtimeMs && known.ctimeMs === stat.ctimeMs;
}

/** Whether a later change may leave the same times; a change of the content sets the second of them, whatever a program does to the first. */
export function isFresh({ ctimeMs }: Stats): boolean {
  return Date.now() - ctimeMs < TICK_MS;
}

/** None of a directory that is gone or may not be read. */
export function entriesIn(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    // It is gone, or may not be read; its own mark tells.
    return [];
  }
}
