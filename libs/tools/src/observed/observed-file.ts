/** A file or link of a workspace as it was when it was last looked at. */
export interface ObservedFile {
  /** Of a link the target is the content. */
  readonly isLink: boolean;
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** Hexadecimal; empty where the file is too large to be read. */
  readonly sha256: string;
  /** Whether the content is kept. */
  readonly isKept: boolean;
}

/** What became of one path; undefined: nothing is there. */
export interface ObservedChange {
  readonly path: string;
  readonly before: ObservedFile | undefined;
  readonly after: ObservedFile | undefined;
}

/** What is different since the look before. */
export interface Observation {
  readonly changes: readonly ObservedChange[];
  /** What was changed and can't be undone, for people. */
  readonly notes: readonly string[];
}
