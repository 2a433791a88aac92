/** What became of a time, as forge.workflow.v1.ScheduleOutcome names it without its prefix. */
export type TimeOutcome = "STARTING" | "STARTED" | "BUFFERED" | "SKIPPED" | "MISSED" | "FAILED";

/** A schedule without what it starts. */
export interface StoredSchedule {
  readonly scheduleId: string;
  /** Counts changes by people, from 1. */
  readonly revision: number;
  /** Counts all changes, from 1. */
  readonly version: number;
  /** Encoded forge.workflow.v1.ScheduleSpec without its run. */
  readonly spec: Uint8Array;
  readonly workflowId: string;
  readonly workflowVersion: string;
  readonly paused: boolean;
  readonly note: string;
  /** All times up to here have been taken. */
  readonly takenThroughMs: number;
  /** The time whose run waits for the one before; undefined: none. */
  readonly bufferedMs: number | undefined;
  /** The newest run that has started; undefined: none. */
  readonly lastRunId: string | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly updatedBy: string;
}

/** A schedule that is to be looked at now. */
export interface DueSchedule extends StoredSchedule {
  readonly namespace: string;
  /** Whether a run of a time that was taken has not started yet. */
  readonly isStarting: boolean;
}

/** What is kept of a schedule when somebody puts it. */
export interface ScheduleToSave extends Pick<StoredSchedule, "scheduleId" | "spec" | "workflowId" | "workflowVersion" | "note" | "updatedBy"> {
  /** Of a new one; one that is there stays as it is. */
  readonly paused: boolean;
  /** Encoded forge.workflow.v1.StartRunRequest without a header. */
  readonly run: Uint8Array;
  /** True: times before now are not taken any more. False: what has been taken stays as it is. */
  readonly begins: boolean;
  /** Of the schedule as it was read; 0: it is not there. */
  readonly expectedVersion: number;
  /** Hashes of the artifacts that the run refers to, which no sweep takes as long as the schedule is there. */
  readonly artifacts: readonly string[];
  /** What these references are kept under: a UUID. */
  readonly referenceId: string;
}

/** Names a time of a schedule. */
export interface TimeKey {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** Of a trigger by hand; empty: the time came by itself. */
  readonly commandId: string;
}

/** A time and what became of it. */
export interface TakenTime extends TimeKey {
  readonly outcome: TimeOutcome;
  readonly runId: string | undefined;
  /** Encoded forge.common.v1.ForgeError. */
  readonly error: Uint8Array | undefined;
  /** How many times in a row it stands for. */
  readonly count: number;
}

/** A time as it is kept. */
export interface StoredTime extends TakenTime {
  readonly decidedAtMs: number;
}

/** A time whose run is about to start. */
export interface StartingTime extends TimeKey {
  readonly namespace: string;
  readonly scheduleId: string;
  /** Since it was taken. */
  readonly ageMs: number;
}

/** What was decided on a schedule's times. */
export interface ScheduleStep {
  /** Of the schedule as it was read. */
  readonly version: number;
  readonly takenThroughMs: number;
  /** Undefined: nothing is to come. */
  readonly lookAtMs: number | undefined;
  readonly bufferedMs: number | undefined;
  /** One that is there already, as a buffered one is, gets the new outcome. */
  readonly times: readonly TakenTime[];
}

/** Schedules and what became of their times. Times are the database's clock, in whole milliseconds. */
export interface ScheduleStore {
  /** Creates or replaces, and asks for it to be looked at. Undefined, and nothing done, where its version is another by now. */
  saveSchedule(namespace: string, schedule: ScheduleToSave): Promise<StoredSchedule | undefined>;
  findSchedule(namespace: string, scheduleId: string): Promise<StoredSchedule | undefined>;
  /** What a schedule starts. */
  findScheduleRun(namespace: string, scheduleId: string): Promise<Uint8Array | undefined>;
  /** By id; `afterId` is the last of the page before. At most `limit` (1 to 500). */
  listSchedules(namespace: string, page: { readonly limit: number; readonly afterId?: string }): Promise<readonly StoredSchedule[]>;
  /** Whether there was one. */
  removeSchedule(namespace: string, scheduleId: string, referenceId: string): Promise<boolean>;
  /**
   * Pauses, which gives up what is buffered as `error` says, or continues from now on. Idempotent. A note that is undefined stays. Undefined where it does not exist.
   */
  pauseSchedule(
    namespace: string,
    scheduleId: string,
    change: { readonly paused: boolean; readonly note: string | undefined; readonly updatedBy: string; readonly error: Uint8Array },
  ): Promise<StoredSchedule | undefined>;

  /** Those to be looked at now, longest due first, at most `limit` (1 to 500); nextInMs: until another is, undefined: none is. */
  dueSchedules(limit: number): Promise<{ readonly nowMs: number; readonly schedules: readonly DueSchedule[]; readonly nextInMs: number | undefined }>;
  /** Records outcomes, moves on what has been taken, and says when to look next, in one statement. False, and nothing done, where the version is another by now. */
  recordTimes(namespace: string, scheduleId: string, step: ScheduleStep): Promise<boolean>;
  /** Looks at a schedule no sooner than in so long: for one that could not be decided on. Nothing where its version is another by now. */
  deferSchedule(namespace: string, scheduleId: string, version: number, ms: number): Promise<void>;
  /** Times that were taken at least so long ago and whose runs are still to start, oldest first, at most `limit` (1 to 500). */
  startingTimes(olderThanMs: number, limit: number): Promise<readonly StartingTime[]>;
  /**
   * What came of a start. STARTED is final, and makes the run the schedule's last one unless a later time's is; FAILED is recorded only where it was about to start. Idempotent.
   */
  finishTime(
    namespace: string,
    scheduleId: string,
    time: TimeKey & ({ readonly outcome: "STARTED"; readonly runId: string } | { readonly outcome: "FAILED"; readonly error: Uint8Array }),
  ): Promise<void>;
  /** Records a run that was started by hand, now, and makes it the schedule's last one. Idempotent by command id. */
  recordTrigger(namespace: string, scheduleId: string, trigger: { readonly commandId: string; readonly runId: string }): Promise<void>;
  /** Newest first by (atMs, commandId); `before` is the last of the page before. At most `limit` (1 to 500). */
  listTimes(namespace: string, scheduleId: string, page: { readonly limit: number; readonly before?: TimeKey }): Promise<readonly StoredTime[]>;
}
