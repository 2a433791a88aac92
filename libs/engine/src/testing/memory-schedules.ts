import type { DueSchedule, ScheduleStore, StoredSchedule, StoredTime, TakenTime } from "../ports/index.ts";

type Kept = StoredSchedule & { readonly namespace: string; readonly run: Uint8Array; readonly lookAtMs: number | undefined; readonly lastRunAtMs: number };

/** Schedules in memory, by a clock that the test sets. For tests of the engine alone; the real store has its own suite. */
export class MemorySchedules implements ScheduleStore {
  nowMs = Date.parse("2026-01-01T00:00:00Z");
  readonly #schedules = new Map<string, Kept>();
  readonly #times = new Map<string, Map<string, StoredTime>>();

  readonly saveSchedule: ScheduleStore["saveSchedule"] = async (namespace, schedule) => {
    const found = this.#schedules.get(schedule.scheduleId);
    if ((found?.version ?? 0) !== schedule.expectedVersion) return undefined;
    const { scheduleId, spec, run, workflowId, workflowVersion, note, updatedBy, begins } = schedule;
    const paused = found?.paused ?? schedule.paused;
    return this.#keep({
      bufferedMs: undefined,
      lastRunId: undefined,
      lastRunAtMs: 0,
      createdAtMs: this.nowMs,
      ...found,
      namespace,
      scheduleId,
      spec,
      run,
      workflowId,
      workflowVersion,
      note,
      updatedBy,
      paused,
      updatedAtMs: this.nowMs,
      revision: (found?.revision ?? 0) + 1,
      version: (found?.version ?? 0) + 1,
      takenThroughMs: begins ? Math.max(found?.takenThroughMs ?? 0, this.nowMs) : (found?.takenThroughMs ?? this.nowMs),
      lookAtMs: paused ? undefined : this.nowMs,
    });
  };

  readonly findSchedule: ScheduleStore["findSchedule"] = async (_, scheduleId) => this.#schedules.get(scheduleId);
  readonly findScheduleRun: ScheduleStore["findScheduleRun"] = async (_, scheduleId) => this.#schedules.get(scheduleId)?.run;

  readonly listSchedules: ScheduleStore["listSchedules"] = async (_, { limit, afterId = "" }) =>
    [...this.#schedules.values()]
      .filter(({ scheduleId }) => scheduleId > afterId)
      .toSorted((a, b) => (a.scheduleId < b.scheduleId ? -1 : 1))
      .slice(0, limit);

  readonly removeSchedule: ScheduleStore["removeSchedule"] = async (_, scheduleId) => this.#times.delete(scheduleId) && this.#schedules.delete(scheduleId);

  readonly pauseSchedule: ScheduleStore["pauseSchedule"] = async (_, scheduleId, { paused, note, updatedBy, error }) => {
    const found = this.#schedules.get(scheduleId);
    if (found === undefined || (found.paused === paused && found.note === (note ?? found.note))) return found;
    if (paused) for (const time of this.times(scheduleId)) if (time.outcome === "BUFFERED") this.#set(scheduleId, { ...time, outcome: "SKIPPED", error });
    return this.#keep({
      ...found,
      paused,
      note: note ?? found.note,
      updatedBy,
      revision: found.revision + 1,
      version: found.version + 1,
      bufferedMs: paused ? undefined : found.bufferedMs,
      takenThroughMs: found.paused && !paused ? Math.max(found.takenThroughMs, this.nowMs) : found.takenThroughMs,
      lookAtMs: paused ? undefined : found.paused ? this.nowMs : found.lookAtMs,
    });
  };

  readonly dueSchedules: ScheduleStore["dueSchedules"] = async (limit) => {
    const all = [...this.#schedules.values()];
    const due = all.filter(({ lookAtMs }) => lookAtMs !== undefined && lookAtMs <= this.nowMs).slice(0, limit);
    const nextMs = Math.min(...all.map(({ lookAtMs = Number.POSITIVE_INFINITY }) => (lookAtMs > this.nowMs ? lookAtMs : Number.POSITIVE_INFINITY)));
    const isStarting = (scheduleId: string): boolean => this.times(scheduleId).some(({ outcome }) => outcome === "STARTING");
    return {
      nowMs: this.nowMs,
      nextInMs: nextMs === Number.POSITIVE_INFINITY ? undefined : nextMs - this.nowMs,
      schedules: due.map((schedule): DueSchedule => ({ ...schedule, isStarting: isStarting(schedule.scheduleId) })),
    };
  };

  readonly recordTimes: ScheduleStore["recordTimes"] = async (_, scheduleId, { version, takenThroughMs, lookAtMs, bufferedMs, times }) => {
    const found = this.#schedules.get(scheduleId);
    if (found?.version !== version || found.paused) return false;
    this.#keep({ ...found, version: version + 1, takenThroughMs: Math.max(takenThroughMs, found.takenThroughMs), lookAtMs, bufferedMs });
    for (const time of times) this.#set(scheduleId, time);
    return true;
  };

  readonly deferSchedule: ScheduleStore["deferSchedule"] = async (_, scheduleId, version, ms) => {
    const found = this.#schedules.get(scheduleId);
    if (found?.version === version && found.lookAtMs !== undefined) this.#keep({ ...found, lookAtMs: this.nowMs + ms });
  };

  readonly startingTimes: ScheduleStore["startingTimes"] = async (olderThanMs, limit) =>
    [...this.#schedules.values()]
      .flatMap(({ namespace, scheduleId }) =>
        this.times(scheduleId)
          .filter(({ outcome }) => outcome === "STARTING")
          .map(({ atMs, commandId, decidedAtMs }) => ({ namespace, scheduleId, atMs, commandId, ageMs: this.nowMs - decidedAtMs })),
      )
      .filter(({ ageMs }) => ageMs >= olderThanMs)
      .slice(0, limit);

  readonly finishTime: ScheduleStore["finishTime"] = async (_, scheduleId, time) => {
    const found = this.#times.get(scheduleId)?.get(keyOf(time));
    if (found === undefined || (found.outcome !== "STARTING" && !(time.outcome === "STARTED" && found.outcome === "FAILED"))) return;
    this.#set(scheduleId, { ...found, error: undefined, ...time });
    if (time.outcome === "STARTED") this.#ran(scheduleId, time.runId, time.atMs);
  };

  readonly recordTrigger: ScheduleStore["recordTrigger"] = async (_, scheduleId, { commandId, runId }) => {
    if (this.times(scheduleId).some((time) => time.commandId === commandId)) return;
    this.#set(scheduleId, { atMs: this.nowMs, commandId, outcome: "STARTED", runId, error: undefined, count: 1 });
    this.#ran(scheduleId, runId, this.nowMs);
  };

  readonly listTimes: ScheduleStore["listTimes"] = async (_, scheduleId, { limit, before }) =>
    this.times(scheduleId)
      .toReversed()
      .filter((time) => before === undefined || compare(time, before) < 0)
      .slice(0, limit);

  /** Oldest first. */
  times(scheduleId: string): readonly StoredTime[] {
    return [...(this.#times.get(scheduleId)?.values() ?? [])].toSorted(compare);
  }

  #ran(scheduleId: string, lastRunId: string, atMs: number): void {
    const found = this.#schedules.get(scheduleId);
    if (found !== undefined && found.lastRunAtMs <= atMs) this.#keep({ ...found, lastRunId, lastRunAtMs: atMs });
  }

  #keep(schedule: Kept): StoredSchedule {
    this.#schedules.set(schedule.scheduleId, schedule);
    if (!this.#times.has(schedule.scheduleId)) this.#times.set(schedule.scheduleId, new Map());
    return schedule;
  }

  #set(scheduleId: string, time: TakenTime): void {
    this.#times.get(scheduleId)?.set(keyOf(time), { ...time, decidedAtMs: this.nowMs });
  }
}

type Key = Pick<StoredTime, "atMs" | "commandId">;

function keyOf({ atMs, commandId }: Key): string {
  return `${atMs} ${commandId}`;
}

function compare(a: Key, b: Key): number {
  return a.atMs - b.atMs || (a.commandId < b.commandId ? -1 : 1);
}
