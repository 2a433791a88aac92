/** A run that has ended and is not archived. */
export interface EndedRun {
  readonly namespace: string;
  readonly streamId: string;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly endedAtMs: number;
}

/** Which ended runs, in the order in which they ended. */
export interface EndedRunsPage {
  /** Only those that ended longer ago. */
  readonly olderThanMs: number;
  /** Absent: of every namespace. */
  readonly namespace?: string;
  /** 1 to 500. */
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: EndedRun;
}

/** What a stream becomes when its rows go. */
export interface ArchivedStream {
  readonly namespace: string;
  readonly streamId: string;
  /** The head's seq that the archive reaches. */
  readonly seq: number;
  /** The artifact that leads to all of its events, hexadecimal SHA-256. */
  readonly archive: string;
  /** All artifacts that the archive consists of; they are kept beside those that the events refer to. */
  readonly artifacts: readonly string[];
}

/** Where ended runs are moved out of the way. */
export interface ArchiveStore {
  endedRuns(page: EndedRunsPage): Promise<readonly EndedRun[]>;
  /**
   * Removes a run's events, deltas, snapshots and command records, marks it archived in lists and moves its head by one, which names the archive from then on: whoever decided on the
   * old head is in conflict. All of it or nothing. False, and nothing done: the head has moved, the stream is archived, or tasks of it wait.
   */
  archiveStream(archived: ArchivedStream): Promise<boolean>;
}
