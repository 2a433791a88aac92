import { randomUUID } from "node:crypto";
import type { ScheduleStep, ScheduleToSave, Store, StoredSchedule, StoredTime, TakenTime } from "@forge/engine/ports";
import { afterEach, describe, expect, it } from "vitest";
import { newNamespace } from "../builders.ts";
import type { Suite } from "./suite.ts";

const HASH = "ab".repeat(32);

function aSchedule(scheduleId: string, more: Partial<ScheduleToSave> = {}): ScheduleToSave {
  return {
    scheduleId,
    spec: Buffer.from("spec"),
    run: Buffer.from("run"),
    workflowId: "w",
    workflowVersion: "v1",
    paused: false,
    note: "",
    updatedBy: "tester",
    begins: true,
    expectedVersion: 0,
    artifacts: [],
    referenceId: randomUUID(),
    ...more,
  };
}

function aTime(atMs: number, more: Partial<TakenTime> = {}): TakenTime {
  return { atMs, commandId: "", outcome: "STARTING", runId: undefined, error: undefined, count: 1, ...more };
}

async function saved(store: Store, namespace: string, schedule: ScheduleToSave): Promise<StoredSchedule> {
  return (await store.saveSchedule(namespace, schedule)) as StoredSchedule;
}

const step = (version: number, more: Partial<ScheduleStep> = {}): ScheduleStep => ({
  version,
  takenThroughMs: 0,
  lookAtMs: undefined,
  bufferedMs: undefined,
  times: [],
  ...more,
});

const dueOf = async (store: Store, namespace: string) => (await store.dueSchedules(500)).schedules.filter((each) => each.namespace === namespace);
const timesOf = async (store: Store, namespace: string): Promise<readonly StoredTime[]> => await store.listTimes(namespace, "s", { limit: 500 });

export function describeSchedules(suite: Suite): void {
  describe("schedules", () => {
    // One that is to be looked at is work for the whole database.
    afterEach(async () => await suite.pool.query("delete from forge.schedule"));

    it("are created once, however many create them at once, and replaced only by whoever has seen them as they are", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      const made = await Promise.all(
        Array.from({ length: 10 }, async (_, index) => await (index % 2 === 0 ? store : other).saveSchedule(namespace, aSchedule("s", { note: `${index}` }))),
      );
      const [first, ...rest] = made.filter((each) => each !== undefined);
      expect(rest).toEqual([]);
      expect(first).toMatchObject({
        scheduleId: "s",
        revision: 1,
        version: 1,
        paused: false,
        bufferedMs: undefined,
        lastRunId: undefined,
        updatedBy: "tester",
      });
      expect(await other.findSchedule(namespace, "s")).toEqual(first);
      const replaced = await store.saveSchedule(namespace, aSchedule("s", { run: Buffer.from("new"), expectedVersion: 1, begins: false, paused: true }));
      expect(replaced).toMatchObject({ revision: 2, version: 2, paused: false, takenThroughMs: first?.takenThroughMs });
      expect(Buffer.from((await other.findScheduleRun(namespace, "s")) as Uint8Array).toString()).toBe("new");
      expect(await store.saveSchedule(namespace, aSchedule("s", { expectedVersion: 1 }))).toBeUndefined();
      expect(await store.saveSchedule(namespace, aSchedule("s"))).toBeUndefined();
      expect(await store.saveSchedule(newNamespace(), aSchedule("s", { expectedVersion: 1 }))).toBeUndefined();
    });

    it("that begin anew take no time from before, and never one again", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      await store.saveSchedule(namespace, aSchedule("s"));
      await pool.query("update forge.schedule set taken_through = now() - interval '1 day' where ns = $1", [namespace]);
      const begun = await saved(store, namespace, aSchedule("s", { expectedVersion: 1 }));
      expect(Date.now() - begun.takenThroughMs).toBeLessThan(60_000);
      // As after a clock that stepped back.
      await pool.query("update forge.schedule set taken_through = now() + interval '1 day' where ns = $1", [namespace]);
      expect((await saved(store, namespace, aSchedule("s", { expectedVersion: 2 }))).takenThroughMs).toBeGreaterThan(Date.now() + 3_600_000);
    });

    it("list by id, page by page, and are gone with their times once removed", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      for (const id of ["c", "a", "B", "d", "s"]) await store.saveSchedule(namespace, aSchedule(id));
      const idsOf = (rows: readonly StoredSchedule[]): string[] => rows.map(({ scheduleId }) => scheduleId);
      expect(idsOf(await store.listSchedules(namespace, { limit: 2 }))).toEqual(["B", "a"]);
      expect(idsOf(await store.listSchedules(namespace, { limit: 9, afterId: "a" }))).toEqual(["c", "d", "s"]);
      await store.recordTimes(namespace, "s", step(1, { times: [aTime(1_000)] }));
      expect(await store.removeSchedule(namespace, "s", randomUUID())).toBe(true);
      expect(await store.removeSchedule(namespace, "s", randomUUID())).toBe(false);
      expect(await store.findSchedule(namespace, "s")).toBeUndefined();
      expect(await store.findScheduleRun(namespace, "s")).toBeUndefined();
      expect((await pool.query("select 1 from forge.schedule_time where ns = $1", [namespace])).rows).toEqual([]);
    });

    it("keep the artifacts of their run, those of the newest put only", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      const referenceId = randomUUID();
      const kept = async () => (await pool.query("select sha256 from forge.artifact_reference where ns = $1 order by 1", [namespace])).rows;
      await store.saveSchedule(namespace, aSchedule("s", { referenceId, artifacts: [HASH, "cd".repeat(32)] }));
      await store.saveSchedule(namespace, aSchedule("s", { referenceId, artifacts: [HASH, "ef".repeat(32)], expectedVersion: 1 }));
      expect(await kept()).toEqual([{ sha256: HASH }, { sha256: "ef".repeat(32) }]);
      await store.removeSchedule(namespace, "s", referenceId);
      expect(await kept()).toEqual([]);
    });

    it("are due from when they were saved, until a step says when to look next, and never while paused", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      await store.saveSchedule(namespace, aSchedule("s"));
      const [due] = await dueOf(other, namespace);
      expect(due).toMatchObject({ namespace, scheduleId: "s", isStarting: false });
      expect(await store.hasWork()).toBe(true);
      expect(await store.recordTimes(namespace, "s", step(1, { lookAtMs: Date.now() + 5_000 }))).toBe(true);
      expect(await dueOf(store, namespace)).toEqual([]);
      expect((await store.dueSchedules(1)).nextInMs).toBeLessThan(6_000);
      expect(await store.recordTimes(namespace, "s", step(2, { lookAtMs: Date.now() - 5_000 }))).toBe(true);
      // Somebody else has decided on it meanwhile, or changed it.
      await store.deferSchedule(namespace, "s", 2, 60_000);
      expect(await dueOf(store, namespace)).toHaveLength(1);
      await store.deferSchedule(namespace, "s", 3, 60_000);
      expect(await dueOf(store, namespace)).toEqual([]);
      const change = { paused: true, note: "why", updatedBy: "x", error: Buffer.from("e") };
      expect(await store.pauseSchedule(namespace, "s", change)).toMatchObject({ paused: true, note: "why", revision: 2, updatedBy: "x" });
      await store.deferSchedule(namespace, "s", 4, 0);
      expect(await dueOf(store, namespace)).toEqual([]);
      expect(await store.pauseSchedule(namespace, "s", { ...change, note: undefined, updatedBy: "y" })).toMatchObject({ revision: 2, updatedBy: "x" });
      expect(await store.pauseSchedule(namespace, "s", { ...change, paused: false, note: undefined })).toMatchObject({
        paused: false,
        note: "why",
        revision: 3,
      });
      expect(await dueOf(store, namespace)).toHaveLength(1);
      expect(await store.pauseSchedule(newNamespace(), "s", change)).toBeUndefined();
      expect((await store.dueSchedules(500)).nowMs).toBeGreaterThan(Date.now() - 60_000);
    });

    it("take a time once, whoever decides at the same moment, with what is taken and its outcome in one", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      const { version, takenThroughMs } = await saved(store, namespace, aSchedule("s"));
      const atMs = takenThroughMs + 1_000;
      const outcomes = ["STARTING", "SKIPPED"] as const;
      const taken = await Promise.all(
        Array.from({ length: 8 }, async (_, index) =>
          (index % 2 === 0 ? store : other).recordTimes(
            namespace,
            "s",
            step(version, { takenThroughMs: atMs, times: [aTime(atMs, { outcome: outcomes[index % 2] as "STARTING" })] }),
          ),
        ),
      );
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await timesOf(store, namespace)).toEqual([
        aTime(atMs, { outcome: outcomes[taken.indexOf(true) % 2] as "STARTING", decidedAtMs: expect.any(Number) } as object),
      ]);
      expect(await store.findSchedule(namespace, "s")).toMatchObject({ takenThroughMs: atMs, version: 2, revision: 1 });
      // What has been taken stays taken.
      await store.recordTimes(namespace, "s", step(2, { takenThroughMs: 5 }));
      expect(await store.findSchedule(namespace, "s")).toMatchObject({ takenThroughMs: atMs });
    });

    it("start what was taken and left, and end a start once: started beats failed", async () => {
      const { store, other, pool } = suite;
      const namespace = newNamespace();
      await store.saveSchedule(namespace, aSchedule("s"));
      await store.recordTimes(namespace, "s", step(1, { lookAtMs: 0, times: [aTime(1_000), aTime(2_000), aTime(3_000, { outcome: "MISSED", count: 7 })] }));
      const starting = async () => (await other.startingTimes(0, 500)).filter((each) => each.namespace === namespace).map(({ atMs }) => atMs);
      expect((await starting()).toSorted((a, b) => a - b)).toEqual([1_000, 2_000]);
      expect(await dueOf(store, namespace)).toMatchObject([{ isStarting: true }]);
      expect((await store.startingTimes(60_000, 500)).filter((each) => each.namespace === namespace)).toEqual([]);
      await pool.query("update forge.schedule_time set decided_at = now() - interval '2 minutes' where ns = $1", [namespace]);
      const [old] = (await store.startingTimes(60_000, 500)).filter((each) => each.namespace === namespace);
      expect(old?.ageMs).toBeGreaterThan(60_000);

      const [one, two] = [randomUUID(), randomUUID()];
      await store.finishTime(namespace, "s", { atMs: 2_000, commandId: "", outcome: "FAILED", error: Buffer.from("why") });
      expect(await starting()).toEqual([1_000]);
      expect(await timesOf(store, namespace)).toMatchObject([{ outcome: "MISSED", count: 7 }, { outcome: "FAILED", error: Buffer.from("why") }, {}]);
      await other.finishTime(namespace, "s", { atMs: 2_000, commandId: "", outcome: "STARTED", runId: two });
      await store.finishTime(namespace, "s", { atMs: 2_000, commandId: "", outcome: "FAILED", error: Buffer.from("late") });
      await store.finishTime(namespace, "s", { atMs: 1_000, commandId: "", outcome: "STARTED", runId: one });
      expect(await timesOf(store, namespace)).toMatchObject([
        { atMs: 3_000, outcome: "MISSED" },
        { atMs: 2_000, outcome: "STARTED", runId: two, error: undefined },
        { atMs: 1_000, outcome: "STARTED", runId: one },
      ]);
      // The newest time's, not the one that was told of last.
      expect(await store.findSchedule(namespace, "s")).toMatchObject({ lastRunId: two });
      expect(await starting()).toEqual([]);
    });

    it("remember what is buffered, which a pause gives up", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      await store.saveSchedule(namespace, aSchedule("s"));
      await store.recordTimes(namespace, "s", step(1, { bufferedMs: 2_000, times: [aTime(2_000, { outcome: "BUFFERED" })] }));
      expect(await store.findSchedule(namespace, "s")).toMatchObject({ bufferedMs: 2_000 });
      await store.recordTimes(namespace, "s", step(2, { times: [aTime(2_000)] }));
      expect(await timesOf(store, namespace)).toMatchObject([{ atMs: 2_000, outcome: "STARTING" }]);
      await store.recordTimes(namespace, "s", step(3, { bufferedMs: 4_000, times: [aTime(4_000, { outcome: "BUFFERED" })] }));
      await store.pauseSchedule(namespace, "s", { paused: true, note: undefined, updatedBy: "x", error: Buffer.from("paused") });
      expect(await timesOf(store, namespace)).toMatchObject([{ atMs: 4_000, outcome: "SKIPPED", error: Buffer.from("paused") }, { outcome: "STARTING" }]);
      expect(await store.recordTimes(namespace, "s", step(5, { times: [aTime(5_000)] }))).toBe(false);
    });

    it("record a trigger once, page their times, and keep about a thousand of them", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      await store.saveSchedule(namespace, aSchedule("s"));
      const runId = randomUUID();
      for (let index = 0; index < 3; index++) {
        await Promise.all(Array.from({ length: 8 }, async () => await store.recordTrigger(namespace, "s", { commandId: "now", runId })));
      }
      await store.recordTrigger(namespace, "nobody", { commandId: "now", runId });
      expect(await timesOf(store, namespace)).toMatchObject([{ commandId: "now", outcome: "STARTED", runId }]);
      expect(await store.findSchedule(namespace, "s")).toMatchObject({ lastRunId: runId });

      const times = Array.from({ length: 1_100 }, (_, index) => aTime((index + 1) * 1_000, { outcome: index === 0 ? "STARTING" : "SKIPPED" }));
      const version = (await store.findSchedule(namespace, "s"))?.version as number;
      await store.recordTimes(namespace, "s", step(version, { times }));
      const pageOne = await store.listTimes(namespace, "s", { limit: 3 });
      expect(pageOne.map(({ commandId, atMs }) => commandId || atMs)).toEqual(["now", 1_100_000, 1_099_000]);
      expect(await store.listTimes(namespace, "s", { limit: 1, before: pageOne[2] })).toMatchObject([{ atMs: 1_098_000 }]);
      for (let next = version + 1; next <= 64; next++) await store.recordTimes(namespace, "s", step(next));
      const { rows } = await pool.query("select count(*)::int as count, min(at) as oldest from forge.schedule_time where ns = $1", [namespace]);
      // The oldest is still to start.
      expect(rows).toEqual([{ count: 1_002, oldest: new Date(1_000) }]);
    });
  });
}
