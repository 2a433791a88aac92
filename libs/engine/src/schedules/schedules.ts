import { create, toBinary } from "@bufbuild/protobuf";
import { pause } from "@forge/core";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import type { DueSchedule, Store, TakenTime } from "../ports/index.ts";
import { isPassing } from "../tasks/passing.ts";
import { type DecidedTime, decideTimes, type SkipReason } from "./decide-times.ts";
import { dueTimes } from "./due-times.ts";
import type { ScheduleRuns } from "./schedule-runs.ts";
import { timingOf } from "./schedule-spec.ts";

/** Schedules that other replicas put are found at this distance at the latest. */
const POLL_MS_MAX = 5_000;
const POLL_MS_MIN = 20;
/** Schedules that one round looks at, and so all that it may start is bounded; the rest is the next round's. */
const SCHEDULES_MAX = 100;
/** Times of one schedule in one round: while one makes up for a long absence, the others have their turn. */
const TIMES_MAX = 20;
/** Schedules that are looked at beside each other: one that starts slowly holds up few. */
const PARALLEL_MAX = 4;
/** A run that waits for another is looked at so often. */
const BUFFER_POLL_MS = 1_000;
/** Whoever took a time starts its run within this, or has died. */
const ABANDONED_MS = 2_000;
/** A schedule that can't be decided on is looked at again after so long: the first where the reason passes, the second where it may be a newer version's. */
const PASSING_DEFER_MS = 2_000;
const BROKEN_DEFER_MS = 60_000;

const REASONS: Readonly<Record<SkipReason, string>> = {
  RUN_ACTIVE: "the run before had not ended",
  LATER_TIME: "a later time took its place",
};

export interface SchedulesPorts {
  readonly store: Pick<Store, "dueSchedules" | "recordTimes" | "deferSchedule" | "startingTimes">;
  readonly runs: ScheduleRuns;
  /** What could not be decided or started, and is tried again. */
  readonly onProblem: (error: unknown, where: string) => void;
}

/**
 * Takes the times of all schedules, on every control plane at once: a time is taken in the statement that records what becomes of it, which only one of them succeeds with. The run
 * starts afterwards, under an id that derives from the time; where whoever took it has died, another starts it.
 */
export class Schedules {
  readonly #store: SchedulesPorts["store"];
  readonly #runs: ScheduleRuns;
  readonly #onProblem: SchedulesPorts["onProblem"];
  #wake = new AbortController();
  #isExpected = false;

  constructor({ store, runs, onProblem }: SchedulesPorts) {
    this.#store = store;
    this.#runs = runs;
    this.#onProblem = onProblem;
  }

  /** A schedule was changed on this replica. */
  expect(): void {
    this.#isExpected = true;
    this.#wake.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#wake = new AbortController();
      this.#isExpected = false;
      const waitMs = await this.round(signal).catch((error: unknown) => {
        this.#onProblem(error, "schedules");
        return PASSING_DEFER_MS;
      });
      if (!this.#isExpected) await pause(Math.max(POLL_MS_MIN, waitMs), AbortSignal.any([signal, this.#wake.signal]));
    }
  }

  /** Takes what is due; answers how long to wait for the next, in milliseconds. */
  async round(signal?: AbortSignal): Promise<number> {
    const abandoned = await this.#store.startingTimes(ABANDONED_MS, SCHEDULES_MAX);
    await this.#each(abandoned, signal, async (time) => await this.#runs.startTime(time));
    const { nowMs, schedules, nextInMs } = await this.#store.dueSchedules(SCHEDULES_MAX);
    await this.#each(schedules, signal, async (schedule) => await this.#take(schedule, nowMs));
    if (schedules.length > 0) return 0;
    return Math.min(nextInMs ?? POLL_MS_MAX, POLL_MS_MAX);
  }

  /** A few at a time; what one meets is told and does not stop the others. */
  async #each<Item>(items: readonly Item[], signal: AbortSignal | undefined, work: (item: Item) => Promise<void>): Promise<void> {
    const waiting = items.values();
    const one = async (): Promise<void> => {
      for (const item of waiting) {
        if (signal?.aborted === true) return;
        await work(item).catch((error: unknown) => this.#onProblem(error, "schedules"));
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL_MAX, items.length) }, one));
  }

  async #take(schedule: DueSchedule, nowMs: number): Promise<void> {
    const { namespace, scheduleId, version } = schedule;
    try {
      await this.#decide(schedule, nowMs);
    } catch (error) {
      await this.#store.deferSchedule(namespace, scheduleId, version, isPassing(error) ? PASSING_DEFER_MS : BROKEN_DEFER_MS);
      throw error;
    }
  }

  async #decide(schedule: DueSchedule, nowMs: number): Promise<void> {
    const { namespace, scheduleId, version, lastRunId } = schedule;
    const { overlap, ...timing } = timingOf(schedule.spec);
    const { missed, dueMs, throughMs, nextDueMs } = dueTimes({ ...timing, scheduleId, takenThroughMs: schedule.takenThroughMs, nowMs, limit: TIMES_MAX });
    const isAsked = dueMs.length > 0 || schedule.bufferedMs !== undefined;
    const isActive = isAsked && (schedule.isStarting || (lastRunId !== undefined && (await this.#runs.isActive(namespace, lastRunId))));
    const decided = decideTimes({ overlap, dueMs, isActive, bufferedMs: schedule.bufferedMs });
    const taken = await this.#store.recordTimes(namespace, scheduleId, {
      version,
      takenThroughMs: throughMs,
      lookAtMs: earliest(nextDueMs, decided.bufferedMs === undefined ? undefined : nowMs + BUFFER_POLL_MS),
      bufferedMs: decided.bufferedMs,
      times: [...(missed === undefined ? [] : [aTime({ ...missed, outcome: "MISSED" })]), ...decided.times.map(toTaken)],
    });
    // Another control plane took them, or somebody has changed the schedule: it is looked at again.
    if (!taken) return;
    for (const { atMs, outcome } of decided.times) if (outcome === "STARTING") await this.#start({ namespace, scheduleId, atMs });
    if (decided.cancels && decided.bufferedMs !== undefined && lastRunId !== undefined && !schedule.isStarting) {
      await this.#runs.cancel({ namespace, scheduleId, runId: lastRunId, atMs: decided.bufferedMs });
    }
  }

  /** What fails for a passing reason is found again as abandoned. */
  async #start(time: { readonly namespace: string; readonly scheduleId: string; readonly atMs: number }): Promise<void> {
    await this.#runs.startTime({ ...time, ageMs: 0 }).catch((error: unknown) => this.#onProblem(error, "schedules"));
  }
}

function earliest(one: number | undefined, two: number | undefined): number | undefined {
  return one === undefined || two === undefined ? (one ?? two) : Math.min(one, two);
}

function toTaken(time: DecidedTime): TakenTime {
  return time.outcome === "SKIPPED" ? aTime({ ...time, error: skipped(time.reason) }) : aTime(time);
}

function aTime({ atMs, outcome, count = 1, error }: Pick<TakenTime, "atMs" | "outcome"> & Partial<TakenTime>): TakenTime {
  return { atMs, commandId: "", outcome, runId: undefined, error, count };
}

/** Why a time was skipped, encoded. */
export function skipped(reason: SkipReason | "SCHEDULE_PAUSED"): Uint8Array {
  const message = reason === "SCHEDULE_PAUSED" ? "the schedule was paused while it waited" : REASONS[reason];
  return toBinary(ForgeErrorSchema, create(ForgeErrorSchema, new ForgeError(ErrorCode.CONFLICT, message, { reason, origin: "control-plane" }).detail));
}
