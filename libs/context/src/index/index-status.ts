/** How far an index is. */
export interface IndexStatus {
  /** `scanning` finds the files, `parsing` reads what changed, `ready` knows all, `failed` is over. */
  readonly state: "scanning" | "parsing" | "ready" | "failed";
  /** Files of the workspace that are not ignored. */
  readonly files: number;
  /** Those whose definitions can be found, and how many of them were read. */
  readonly sources: number;
  readonly parsed: number;
  /** How long the last scan took; 0 before its end. */
  readonly scanMs: number;
  /** Anything that people should know: a damaged index that is built anew, too many files, a full disk. */
  readonly notes: readonly string[];
}
