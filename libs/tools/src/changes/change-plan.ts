import type { FileState } from "./file-state.ts";

/** What one file is to be, from what it is. */
export interface PlannedFile {
  readonly before: FileState;
  /** Undefined: it is to be deleted. */
  readonly after: PlannedContent | undefined;
}

/** A file's content to be. */
export interface PlannedContent {
  readonly bytes: Buffer;
  /** Permission bits; undefined: those it has, or of a new file the usual ones. */
  readonly mode: number | undefined;
  /** Of a new file without a mode: whether the usual ones include execution. */
  readonly isExecutable?: boolean;
}

/** One transaction: all of its files or none. At most one entry for each path. */
export type ChangePlan = readonly PlannedFile[];

/** Whether a file is left as it is. */
export function isUnchanged({ before, after }: PlannedFile): boolean {
  const { file } = before;
  if (file === undefined || after === undefined) return (file === undefined) === (after === undefined);
  return file.bytes.equals(after.bytes) && (after.mode === undefined || after.mode === file.mode);
}
