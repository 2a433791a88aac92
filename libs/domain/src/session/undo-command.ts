/** Which changes are to be taken back, read from the session's events by whoever gives the command. */
export interface UndoThese {
  readonly $typeName: "session.undo_these";
  /** Newest first; at least one, at most 1,000; all of them stood when they were read. */
  readonly changeIds: readonly string[];
  /** The session's seq when they were read. */
  readonly readSeq: number;
}

/** Where a session is to stand, and which changes of files came after that. */
export interface RewindTo {
  readonly $typeName: "session.rewind_to";
  readonly throughSeq: number;
  /** Newest first; empty: the files stay, or there is nothing to take back. */
  readonly changeIds: readonly string[];
  readonly readSeq: number;
}
