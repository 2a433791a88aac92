import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { ContainedFiles } from "../files/contained-files.ts";
import { IGNORE_FILES, type IgnoreRules } from "../files/ignore-rules.ts";
import { DEPTH_MAX, type Listing, listDirectory, outerIgnoreFiles, rootRules } from "../files/walk-files.ts";
import { languageOf } from "./languages.ts";
import { type DirectoryState, isSameStamp, type SourceState, type Stamp, type TreeState } from "./tree-state.ts";

/** Files of one tree that are known. */
export const FILES_MAX = 200_000;
/** Two changes within a tick of the file system's clock leave one time. No tick is longer; where times are whole seconds, it is two of them. */
const TICK_MS = 50;
const COARSE_TICK_MS = 2_000;
/** How often others get their turn. */
const TURN_MS = 20;

/** Of a file that is not there. */
const ABSENT: Stamp = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };

export interface ScannedTree {
  readonly tree: TreeState;
  /** New or changed, by their stat; their hashes are empty. */
  readonly changed: readonly { readonly path: string; readonly source: SourceState }[];
  /** Anything differs from what was known. */
  readonly isChanged: boolean;
  /** There are more files than are known. */
  readonly isCut: boolean;
}

interface Pending {
  readonly path: string;
  readonly depth: number;
  /** Those of the directories above, found when somebody needs them. */
  readonly above: () => IgnoreRules;
  /** What is ignored may have changed above. */
  readonly isRelisted: boolean;
}

/**
 * The files of a tree that are not ignored, by what was known of it: a directory whose own stat is as it was is not listed again, since a name that comes, goes
 * or is replaced changes it; the files are looked at one by one. Gives way every 20 ms; `onTurn` may throw to stop it.
 */
export async function scanTree(files: ContainedFiles, known: TreeState, onTurn: (found: number) => Promise<void>): Promise<ScannedTree> {
  const tree: TreeState = new Map();
  const changed: { path: string; source: SourceState }[] = [];
  const pending: Pending[] = [{ path: "", depth: 0, above: once(() => rootRules(files)), isRelisted: false }];
  let [fileCount, isChanged, isCut, turn] = [0, false, false, performance.now()];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (performance.now() - turn > TURN_MS) {
      await onTurn(fileCount);
      turn = performance.now();
    }
    const before = known.get(next.path);
    const found = scanDirectory(files, next, before);
    if (found === undefined) continue;
    const { state, rules, isRelisted, isKept } = found;
    fileCount += state.fileCount;
    if (fileCount > FILES_MAX) {
      isCut = true;
      break;
    }
    tree.set(state.path, state);
    if (!isKept || before?.sources.length !== state.sources.length) isChanged = true;
    const prefix = state.path === "" ? "" : `${state.path}/`;
    for (const source of state.sources) if (source.hash === "") changed.push({ path: prefix + source.name, source });
    if (next.depth < DEPTH_MAX)
      for (const name of state.directories.toReversed()) pending.push({ path: prefix + name, depth: next.depth + 1, above: rules, isRelisted });
  }
  return { tree, changed, isChanged: isChanged || changed.length > 0 || tree.size !== known.size, isCut };
}

interface ScannedDirectory {
  readonly state: DirectoryState;
  readonly rules: () => IgnoreRules;
  /** Its ignore files, or those above, are not what they were. */
  readonly isRelisted: boolean;
  /** It was not listed, because it is as it was. */
  readonly isKept: boolean;
}

/** Undefined where it is no directory any more, or one of Forge's data. */
function scanDirectory(files: ContainedFiles, { path, above, isRelisted }: Pending, before: DirectoryState | undefined): ScannedDirectory | undefined {
  const absolute = join(files.root, path);
  const stat = lstat(absolute);
  if (stat === undefined || !stat.isDirectory()) return undefined;
  const now = Date.now();
  const stamp = settled(stat, now);
  const isKept = before !== undefined && !isRelisted && isSameStamp(before.stamp, stampOf(stat)) && ignoresAsBefore(absolute, before);
  const listed = once((): Listing | undefined => listDirectory(files, path, above()));
  const rules = once(() => listed()?.rules ?? above());
  if (isKept) {
    const sources = before.sources.map((source) => lookAt(absolute, source.name, source, now)).filter(isThere);
    return { state: { ...before, sources }, rules, isRelisted, isKept };
  }
  const listing = listed();
  if (listing === undefined) return undefined;
  const sourcesBefore = new Map(before?.sources.map((source) => [source.name, source]));
  const sources = listing.files.filter((name) => languageOf(name) !== undefined).map((name) => lookAt(absolute, name, sourcesBefore.get(name), now));
  const state: DirectoryState = {
    path,
    stamp,
    ignoreStamps: ignoreStamps(absolute, path, now),
    directories: listing.directories,
    fileCount: listing.files.length,
    sources: sources.filter(isThere),
  };
  return { state, rules, isRelisted: isRelisted || before === undefined || !ignoresAsBefore(absolute, before), isKept };
}

/** A source with what is known of it, where its stat says that this still holds. */
function lookAt(directory: string, name: string, before: SourceState | undefined, now: number): SourceState | undefined {
  const stat = lstat(`${directory}/${name}`);
  if (stat === undefined || !stat.isFile()) return undefined;
  if (before !== undefined && isSameStamp(before.stamp, stampOf(stat))) return before;
  return { name, stamp: settled(stat, now), hash: "" };
}

function isThere<T>(value: T | undefined): value is T {
  return value !== undefined;
}

function lstat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // What may not be looked at is not there for us.
    return undefined;
  }
}

function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): Stamp {
  return { size, mtimeMs, ctimeMs, ino };
}

/** The stamp, or one that never matches where the last change is so young that the next one may bear the same time. */
function settled(stat: Stats, now: number): Stamp {
  const latest = Math.max(stat.mtimeMs, stat.ctimeMs);
  const tick = latest % 1_000 === 0 ? COARSE_TICK_MS : TICK_MS;
  return now - latest < tick ? { ...stampOf(stat), size: -1 - stat.size } : stampOf(stat);
}

function ignoreStamps(directory: string, path: string, now: number): Record<string, Stamp> {
  const stamps: Record<string, Stamp> = {};
  for (const name of IGNORE_FILES) {
    const stat = lstat(`${directory}/${name}`);
    if (stat !== undefined) stamps[name] = settled(stat, now);
  }
  // Those above the root do not change the root's own stat when they come.
  for (const outer of path === "" ? outerIgnoreFiles(directory) : []) {
    const stat = lstat(`${directory}/${outer.path}`);
    stamps[outer.path] = stat === undefined ? ABSENT : settled(stat, now);
  }
  return stamps;
}

function ignoresAsBefore(directory: string, before: DirectoryState): boolean {
  return Object.entries(before.ignoreStamps).every(([name, stamp]) => {
    const stat = lstat(`${directory}/${name}`);
    return isSameStamp(stamp, stat === undefined ? ABSENT : stampOf(stat));
  });
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
