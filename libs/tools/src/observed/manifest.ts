import type { IgnoreRules } from "../search/ignore-rules.ts";
import type { ObservedFile } from "./observed-file.ts";

/** What tells cheaply whether something is still the same. */
export interface Stamp {
  readonly ino: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** A file or link of a workspace. */
export interface FileNode extends Stamp {
  readonly file: ObservedFile;
  /** So young when it was read that a later write may have left the same stamp. */
  readonly isFresh: boolean;
}

/** The rules that hold in a directory, and what they were made of. */
export interface DirectoryRules {
  readonly above: IgnoreRules;
  readonly text: string;
  readonly own: IgnoreRules;
}

/** A directory of a workspace. */
export interface DirectoryNode {
  /** As it was when its names were read; undefined: they were not. */
  stamp: Stamp | undefined;
  /** So young when it was read that a name may have come or gone since without another stamp. */
  isFresh: boolean;
  rules: DirectoryRules | undefined;
  /** Of its ignore file, when its text was read; undefined: it is to be read again. */
  ignoreStamp: string | undefined;
  readonly files: Map<string, FileNode>;
  readonly directories: Map<string, DirectoryNode>;
  /** What is ignored or forbidden, by name (a directory's ends with `/`), and a mark that changes with it. */
  readonly ignored: Map<string, string>;
  /** Whether a `.git` is in it. */
  hasRepository: boolean;
}

export function emptyDirectory(): DirectoryNode {
  return {
    stamp: undefined,
    isFresh: true,
    rules: undefined,
    ignoreStamp: undefined,
    files: new Map(),
    directories: new Map(),
    ignored: new Map(),
    hasRepository: false,
  };
}

type SavedFile = [name: string, ino: number, mtimeMs: number, ctimeMs: number, size: number, mode: number, sha256: string, flags: number];

interface SavedDirectory {
  /** Stamp; absent where its names are to be read again. */
  s?: [number, number, number];
  f: SavedFile[];
  d: [string, SavedDirectory][];
  i: string[];
  /** Present where it has a repository. */
  g?: 1;
}

const [IS_LINK, IS_KEPT, IS_FRESH] = [1, 2, 4];

/** As JSON can hold it. */
export function savedManifest({ stamp, isFresh, files, directories, ignored, hasRepository }: DirectoryNode): SavedDirectory {
  return {
    ...(stamp === undefined || isFresh ? {} : { s: [stamp.ino, stamp.mtimeMs, stamp.ctimeMs] }),
    f: [...files].map(([name, { ino, mtimeMs, ctimeMs, isFresh: young, file }]) => {
      const flags = (file.isLink ? IS_LINK : 0) + (file.isKept ? IS_KEPT : 0) + (young ? IS_FRESH : 0);
      return [name, ino, mtimeMs, ctimeMs, file.size, file.mode, file.sha256, flags];
    }),
    d: [...directories].map(([name, node]) => [name, savedManifest(node)]),
    i: [...ignored.keys()],
    ...(hasRepository ? { g: 1 } : {}),
  };
}

/** What savedManifest made; throws on anything else. */
export function loadedManifest({ s, f, d, i, g }: SavedDirectory): DirectoryNode {
  const node = emptyDirectory();
  node.hasRepository = g === 1;
  if (s !== undefined) {
    node.stamp = { ino: s[0], mtimeMs: s[1], ctimeMs: s[2] };
    node.isFresh = false;
  }
  for (const [name, ino, mtimeMs, ctimeMs, size, mode, sha256, flags] of f) {
    const file = { isLink: (flags & IS_LINK) !== 0, isKept: (flags & IS_KEPT) !== 0, size, mode, sha256 };
    node.files.set(name, { ino, mtimeMs, ctimeMs, isFresh: (flags & IS_FRESH) !== 0, file });
  }
  for (const [name, child] of d) node.directories.set(name, loadedManifest(child));
  for (const name of i) node.ignored.set(name, "");
  return node;
}
