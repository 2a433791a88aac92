import { OverlapPolicy } from "@forge/protocol/workflow";

/** What is to become of a time now. */
export type DecidedTime =
  | { readonly atMs: number; readonly outcome: "STARTING" | "BUFFERED" }
  | { readonly atMs: number; readonly outcome: "SKIPPED"; readonly reason: SkipReason };

export type SkipReason = "RUN_ACTIVE" | "LATER_TIME";

export interface DecidedTimes {
  readonly times: readonly DecidedTime[];
  /** The time that waits from now on; undefined: none. */
  readonly bufferedMs: number | undefined;
  /** Whether the last run is to be cancelled for the one that waits. */
  readonly cancels: boolean;
}

/**
 * What becomes of the times that are due, in order. `isActive`: the last run of the schedule has not ended, or is about to start. A run that starts here counts for the times
 * after it; where each cancels the one before, only the newest of them starts at all.
 */
export function decideTimes(options: {
  readonly overlap: OverlapPolicy;
  readonly dueMs: readonly number[];
  readonly isActive: boolean;
  readonly bufferedMs: number | undefined;
}): DecidedTimes {
  const { overlap, dueMs } = options;
  const times: DecidedTime[] = [];
  let { isActive, bufferedMs } = options;
  const start = (atMs: number): void => {
    times.push({ atMs, outcome: "STARTING" });
    isActive = true;
  };
  const skip = (atMs: number, reason: SkipReason): void => {
    times.push({ atMs, outcome: "SKIPPED", reason });
  };
  const replaces = overlap === OverlapPolicy.CANCEL_OTHER;
  if (bufferedMs !== undefined && replaces && dueMs.length > 0) {
    skip(bufferedMs, "LATER_TIME");
    bufferedMs = undefined;
  } else if (bufferedMs !== undefined && (!isActive || overlap === OverlapPolicy.ALLOW_ALL)) {
    start(bufferedMs);
    bufferedMs = undefined;
  }
  for (const [index, atMs] of dueMs.entries()) {
    if (replaces && index < dueMs.length - 1) skip(atMs, "LATER_TIME");
    else if (!isActive || overlap === OverlapPolicy.ALLOW_ALL) start(atMs);
    else if ((replaces || overlap === OverlapPolicy.BUFFER_ONE) && bufferedMs === undefined) {
      times.push({ atMs, outcome: "BUFFERED" });
      bufferedMs = atMs;
    } else skip(atMs, "RUN_ACTIVE");
  }
  return { times, bufferedMs, cancels: replaces && bufferedMs !== undefined };
}
