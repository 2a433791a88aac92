import type { Progress } from "./progress.ts";

export interface CaptureOptions {
  /** Paths in the directory, or single names, which are left out wherever they stand; with all that is below them. */
  readonly exclude?: readonly string[];
  /** What the revision is called, for people; at most 256 characters. */
  readonly label?: string;
  /** The id of the revision that it comes from. */
  readonly parent?: string;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}
