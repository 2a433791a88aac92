/** How far long work has come. */
export interface Progress {
  /** Reading the directory, putting content that the server lacks, or getting content from it. */
  readonly phase: "reading" | "putting" | "getting";
  readonly files: number;
  /** Of those files. */
  readonly bytes: number;
  /** Absent while it is not known. */
  readonly filesTotal?: number;
  readonly bytesTotal?: number;
}
