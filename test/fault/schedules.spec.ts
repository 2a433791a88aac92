import { durationFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { commandHeader, withRetry } from "@forge/client";
import { OverlapPolicy, RunStatus, ScheduleOutcome, type ScheduleTime } from "@forge/protocol/workflow";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, NAMESPACE, startCluster } from "../harness/cluster.ts";
import { threeSteps, until } from "../harness/work.ts";

/** Every second. */
const CRON = "* * * * * *";
const NAMES = ["a", "b", "c"];
const KILLS = 5;
/** For which nobody runs, and which is made up for. */
const AWAY_MS = 4_000;
const note = {
  id: "note",
  version: "v1",
  steps: [
    {
      id: "note",
      kind: { case: "function" as const, value: { name: "test.note" } },
      inputs: { call: { kind: { case: "literalJson" as const, value: "{}" } } },
    },
  ],
};

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ controlPlanes: 2, executors: 2 });
});
afterAll(() => cluster?.close());

const schedules = () => cluster.client.schedule;

/** All that was taken of a schedule, oldest first. */
async function taken(scheduleId: string): Promise<readonly ScheduleTime[]> {
  const all: ScheduleTime[] = [];
  for (let pageToken = ""; ; ) {
    const page = await withRetry(() => schedules().listScheduleTimes({ scheduleId, pageSize: 20, pageToken }));
    all.push(...page.past);
    if (page.nextPageToken === "") return all.toReversed();
    pageToken = page.nextPageToken;
  }
}

const hasStarted = async (scheduleId: string, count: number): Promise<boolean> =>
  (await taken(scheduleId)).filter(({ outcome }) => outcome === ScheduleOutcome.STARTED).length >= count;

async function runsOf(scheduleId: string) {
  const runs = [];
  for (let pageToken = ""; ; ) {
    const page = await withRetry(() => cluster.client.workflow.listRuns({ labels: { schedule_id: scheduleId }, pageSize: 500, pageToken }));
    runs.push(...page.runs);
    if (page.nextPageToken === "") return runs;
    pageToken = page.nextPageToken;
  }
}

it("every time is taken exactly once over control planes that are killed, and after none was there", async () => {
  for (const scheduleId of NAMES) {
    await schedules().putSchedule({ scheduleId, spec: { cron: [CRON], overlap: OverlapPolicy.ALLOW_ALL, run: { definition: note } } });
  }
  for (const scheduleId of NAMES) await until(`${scheduleId} has begun`, () => hasStarted(scheduleId, 2));
  for (let kill = 0; kill < KILLS; kill++) {
    const before = (await taken("a")).length;
    await cluster.controlPlanes[kill % 2]?.restart();
    await until("times are taken again", async () => (await taken("a")).length >= before + 2);
  }
  await Promise.all(cluster.controlPlanes.map((plane) => plane.kill()));
  const awayFromMs = Date.now();
  await until("some times have passed", () => Date.now() > awayFromMs + AWAY_MS);
  await Promise.all(cluster.controlPlanes.map((plane) => plane.start()));
  await until("what passed is made up for", async () => {
    const last = (await taken("a")).at(-1)?.scheduledAt;
    return last !== undefined && timestampMs(last) > awayFromMs + AWAY_MS + 1_000;
  });
  for (const scheduleId of NAMES) await withRetry(() => schedules().pauseSchedule({ scheduleId }));

  for (const scheduleId of NAMES) {
    await until("all that was taken has started", async () => !(await taken(scheduleId)).some(({ outcome }) => outcome === ScheduleOutcome.STARTING));
    const times = await taken(scheduleId);
    const seconds = times.map(({ scheduledAt }) => (scheduledAt === undefined ? 0 : timestampMs(scheduledAt) / 1_000));
    expect(seconds).toStrictEqual(seconds.map((_, index) => (seconds[0] as number) + index));
    // After all were away, the workers' own return may have taken longer than the first starts.
    for (const { outcome, error } of times) {
      if (outcome !== ScheduleOutcome.STARTED)
        expect({ outcome, reason: error?.reason }).toStrictEqual({ outcome: ScheduleOutcome.FAILED, reason: "FUNCTION_NOT_SERVED" });
    }
    const started = times.filter(({ outcome }) => outcome === ScheduleOutcome.STARTED).map(({ runId }) => runId);
    expect(started.length).toBeGreaterThan(times.length / 2);
    expect((await runsOf(scheduleId)).map(({ runId }) => runId).toSorted()).toStrictEqual(started.toSorted());
    await until("all runs have ended", async () => (await runsOf(scheduleId)).every(({ status }) => status === RunStatus.COMPLETED));
    const [created] = await cluster.inspector.events(started[0] as string);
    expect(created?.principal?.id).toBe(`schedule:${scheduleId}`);
  }
});

it("a run that is replaced has stopped before the next starts, and a skipped time says why", async () => {
  const definition = threeSteps({ hold: "before-effect" });
  const spec = { cron: [CRON], run: { definition }, catchUpWindow: durationFromMs(600_000) };
  await schedules().putSchedule({ scheduleId: "replace", spec: { ...spec, overlap: OverlapPolicy.CANCEL_OTHER } });
  await schedules().putSchedule({ scheduleId: "skip", spec: { ...spec, overlap: OverlapPolicy.SKIP } });
  await until("three have started", () => hasStarted("replace", 3));
  await until("one was skipped", async () => (await taken("skip")).length > 1);
  for (const scheduleId of ["replace", "skip"]) await schedules().pauseSchedule({ scheduleId });
  const runs = (await runsOf("replace")).toSorted((a, b) => Number(a.createdAt?.seconds) - Number(b.createdAt?.seconds));
  for (const [index, { runId }] of runs.slice(0, -1).entries()) {
    const end = (await cluster.inspector.events(runId)).at(-1);
    expect(end?.kind).toBe("run.cancelled");
    const next = (await cluster.inspector.events(runs[index + 1]?.runId as string))[0];
    expect(timestampMs(next?.occurredAt as never)).toBeGreaterThanOrEqual(timestampMs(end?.occurredAt as never));
  }
  expect(await runsOf("skip")).toHaveLength(1);
  expect((await taken("skip"))[1]).toMatchObject({ outcome: ScheduleOutcome.SKIPPED, error: { reason: "RUN_ACTIVE" }, runId: "" });
});

it("a schedule is put, triggered and deleted once by whoever retries, and refuses what could never start", async () => {
  const spec = { cron: ["@yearly"], run: { definition: note, labels: { team: "a" } } };
  const [first, ...others] = await Promise.all(
    cluster.clients.flatMap((client) => [1, 2, 3].map(() => client.schedule.putSchedule({ scheduleId: "once", spec }))),
  );
  for (const other of others) expect(other).toStrictEqual(first);
  expect(first?.schedule).toMatchObject({
    revision: 1n,
    updatedBy: "tester",
    spec: { timeZone: "UTC", overlap: OverlapPolicy.SKIP, catchUpWindow: { seconds: 60n } },
  });
  const header = commandHeader("by-hand");
  const triggered = await Promise.all(cluster.clients.flatMap((client) => [1, 2].map(() => client.schedule.triggerSchedule({ header, scheduleId: "once" }))));
  expect(new Set(triggered.map(({ runId }) => runId)).size).toBe(1);
  expect((await runsOf("once")).map(({ runId }) => runId)).toStrictEqual([triggered[0]?.runId]);
  expect(await taken("once")).toMatchObject([{ outcome: ScheduleOutcome.STARTED, commandId: "by-hand", runId: triggered[0]?.runId }]);

  const later = { kind: { case: "path" as const, value: "steps.later.x" } };
  const wrong = {
    id: "wrong",
    version: "v1",
    steps: [{ id: "note", kind: { case: "function" as const, value: { name: "test.note" } }, inputs: { call: later } }],
  };
  await expect(schedules().putSchedule({ scheduleId: "wrong", spec: { ...spec, run: { definition: wrong } } })).rejects.toMatchObject({
    detail: { metadata: { field: expect.any(String) } },
  });
  await expect(schedules().putSchedule({ scheduleId: "once", spec: { ...spec, cron: ["@daily"] }, expectedRevision: 7n })).rejects.toMatchObject({
    reason: "SCHEDULE_CHANGED",
  });
  const replaced = await schedules().putSchedule({ scheduleId: "once", spec: { ...spec, cron: ["@daily"] }, expectedRevision: 1n });
  expect(replaced.schedule).toMatchObject({ revision: 2n, lastRunId: triggered[0]?.runId });
  await schedules().deleteSchedule({ scheduleId: "once" });
  await expect(schedules().triggerSchedule({ header, scheduleId: "never" })).rejects.toMatchObject({ reason: "SCHEDULE_NOT_FOUND" });
  expect(await cluster.store.listTimes(NAMESPACE, "once", { limit: 500 })).toStrictEqual([]);
});
