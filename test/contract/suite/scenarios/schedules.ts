import { timestampMs } from "@bufbuild/protobuf/wkt";
import { commandHeader } from "@forge/client";
import { ErrorCode } from "@forge/protocol/common";
import { OverlapPolicy, ScheduleOutcome, ScheduleService } from "@forge/protocol/workflow";
import { expect } from "vitest";
import { until } from "../../../harness/work.ts";
import type { Scenario, World } from "../scenario.ts";
import { accepted, refused } from "../steps/outcomes.ts";
import { joinOwnQueue, OWN_FUNCTION } from "../steps/own-worker.ts";

const { putSchedule, getSchedule, listSchedules, pauseSchedule, continueSchedule, deleteSchedule, triggerSchedule, listScheduleTimes } = ScheduleService.method;

/** A schedule of the case's own, whose runs nobody takes a step of. */
function specOf(world: World, cron: string, timeZone = "UTC") {
  const steps = [{ id: "wait", kind: { case: "function" as const, value: { name: OWN_FUNCTION } } }];
  return { cron: [cron], timeZone, run: { definition: { id: "waiting", version: "v1", steps }, queue: world.queue, labels: { of: "suite" } } };
}

export const SCENARIOS: readonly Scenario[] = [
  {
    group: "Schedules",
    name: "a schedule is put, read, paused, continued, triggered and deleted, each once however often it is said",
    methods: ScheduleService.methods,
    run: async (world) => {
      await joinOwnQueue(world);
      const client = await world.open();
      const scheduleId = `s.${world.queue}`.slice(0, 64);
      const spec = specOf(world, "30 2 * * MON", "Europe/Berlin");
      const { schedule } = await accepted(client.call(putSchedule, { scheduleId, spec, note: "é 日本" }));
      expect(schedule).toMatchObject({
        scheduleId,
        revision: 1n,
        note: "é 日本",
        paused: false,
        spec: { overlap: OverlapPolicy.SKIP, run: { labels: { of: "suite" } } },
      });
      expect((await accepted(client.call(putSchedule, { scheduleId, spec, note: "é 日本" }))).schedule).toEqual(schedule);
      expect((await accepted(client.call(getSchedule, { scheduleId }))).schedule).toEqual(schedule);

      const listed = await accepted(client.call(listSchedules, { pageSize: 1, pageToken: scheduleId.slice(0, -1) }));
      expect(listed.schedules).toMatchObject([{ scheduleId, cron: spec.cron, workflowId: "waiting", workflowVersion: "v1", nextAt: schedule?.nextAt }]);

      const paused = await accepted(client.call(pauseSchedule, { scheduleId }));
      expect(paused.schedule).toMatchObject({ paused: true, note: "é 日本", revision: 2n });
      expect(await accepted(client.call(pauseSchedule, { scheduleId }))).toEqual(paused);
      expect((await accepted(client.call(listScheduleTimes, { scheduleId, upcoming: 3 }))).upcoming).toEqual([]);
      expect((await accepted(client.call(continueSchedule, { scheduleId, note: "" }))).schedule).toMatchObject({ paused: false, note: "", revision: 3n });

      const header = commandHeader();
      const { runId } = await accepted(client.call(triggerSchedule, { header, scheduleId }));
      expect(await accepted(client.call(triggerSchedule, { header, scheduleId }))).toMatchObject({ runId });
      const times = await accepted(client.call(listScheduleTimes, { scheduleId, upcoming: 2 }));
      expect(times.past).toMatchObject([{ outcome: ScheduleOutcome.STARTED, runId, commandId: header.commandId }]);
      // A week lies between them, or an hour less or more over a change of the clock.
      const [first = 0, second = 0] = times.upcoming.map(timestampMs);
      expect(Math.abs(second - first - 7 * 86_400_000)).toBeLessThanOrEqual(3_600_000);
      const { run } = await world.reference.workflow.getRun({ runId });
      expect(run?.labels).toEqual({ of: "suite", schedule_id: scheduleId });

      await accepted(client.call(deleteSchedule, { scheduleId }));
      expect(await refused(client.call(deleteSchedule, { scheduleId }))).toMatchObject({ code: ErrorCode.NOT_FOUND, reason: "SCHEDULE_NOT_FOUND" });
      expect(await refused(client.call(getSchedule, { scheduleId }))).toMatchObject({ reason: "SCHEDULE_NOT_FOUND" });
      const wrong = await refused(client.call(putSchedule, { scheduleId, spec: { ...spec, cron: ["@daily", "61 * * * *"] } }));
      expect(wrong).toMatchObject({ code: ErrorCode.VALIDATION, detail: { metadata: { field: "spec.cron[1]" } } });
    },
  },
  {
    group: "Schedules",
    name: "a schedule starts its run by itself, and skips what comes while that is active",
    methods: [putSchedule, listScheduleTimes, deleteSchedule],
    run: async (world) => {
      await joinOwnQueue(world);
      const client = await world.open();
      const scheduleId = `t.${world.queue}`.slice(0, 64);
      await accepted(client.call(putSchedule, { scheduleId, spec: specOf(world, "* * * * * *") }));
      const past = async () => (await accepted(client.call(listScheduleTimes, { scheduleId, pageSize: 500 }))).past.toReversed();
      await until("one has started and one was skipped", async () => (await past()).length >= 2);
      const [first, second] = await past();
      await accepted(client.call(deleteSchedule, { scheduleId }));
      expect(first).toMatchObject({ outcome: ScheduleOutcome.STARTED, count: 1, commandId: "" });
      expect(second).toMatchObject({ outcome: ScheduleOutcome.SKIPPED, runId: "", error: { reason: "RUN_ACTIVE" } });
    },
  },
];
