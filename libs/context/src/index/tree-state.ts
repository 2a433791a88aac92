/** What a file or directory was by its stat: a change shows in one of these. */
export interface Stamp {
  readonly size: number;
  /** To the 244 ns that a double leaves of the system's nanoseconds. */
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
}

/** A directory as it was found: what in it is not ignored. */
export interface DirectoryState {
  /** Relative to the root, which is "". */
  readonly path: string;
  readonly stamp: Stamp;
  /** Of its ignore files, by their names. */
  readonly ignoreStamps: Readonly<Record<string, Stamp>>;
  readonly directories: readonly string[];
  /** How many files there are, those of unknown languages included. */
  readonly fileCount: number;
  readonly sources: readonly SourceState[];
}

/** A file whose definitions can be found. */
export interface SourceState {
  readonly name: string;
  stamp: Stamp;
  /** Of its content; empty where it was not read yet, NOT_READ where it never is: too large, or no text. */
  hash: string;
}

/** The directories of a tree by their paths. */
export type TreeState = Map<string, DirectoryState>;

export function isSameStamp(one: Stamp, other: Stamp): boolean {
  return one.size === other.size && one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs && one.ino === other.ino;
}

/** In place of the hash of a content that is not looked at. */
export const NOT_READ = "-";
