import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type Call, ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import {
  CancelRunResponseSchema,
  OverlapPolicy,
  ScheduleSpecSchema,
  type StartRunRequest,
  StartRunRequestSchema,
  StartRunResponseSchema,
} from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { deriveId } from "../stream/identity.ts";
import { MemorySchedules } from "../testing/memory-schedules.ts";
import { ScheduleRuns } from "./schedule-runs.ts";
import { Schedules } from "./schedules.ts";

const START_MS = new MemorySchedules().nowMs;
const NAMESPACE = "default";

interface Started {
  readonly request: StartRunRequest;
  readonly call: Call;
}

/** Schedules over a world of runs that start at once and end when the test says so. */
class World {
  readonly store = new MemorySchedules();
  /** By run id; the status as lists have it. */
  readonly runs = new Map<string, string>();
  readonly started: Started[] = [];
  readonly cancelled: string[] = [];
  readonly problems: unknown[] = [];
  /** What the next starts meet in place of the real outcome; "lost-after": it is started and nobody hears of it. */
  readonly faults: (ForgeError | "lost-after")[] = [];
  /** What the next cancels meet. */
  readonly cancelFaults: ForgeError[] = [];
  readonly schedules: Schedules;

  constructor() {
    const workflow = {
      startRun: async (request: StartRunRequest, call: Call) => {
        const fault = this.faults.shift();
        if (fault instanceof ForgeError) throw fault;
        const runId = deriveId(call.namespace, "run", request.header?.commandId ?? "");
        if (!this.runs.has(runId)) this.started.push({ request, call });
        this.runs.set(runId, "RUN_STATUS_RUNNING");
        if (fault === "lost-after") throw new ForgeError(ErrorCode.STORAGE_ERROR, "the connection was lost");
        return create(StartRunResponseSchema, { runId });
      },
      cancelRun: async ({ runId }: { readonly runId: string }) => {
        const fault = this.cancelFaults.shift();
        if (fault !== undefined) throw fault;
        if (this.runs.get(runId) === "RUN_STATUS_CANCELLED") throw new ForgeError(ErrorCode.CONFLICT, "it has ended", { reason: "RUN_ENDED" });
        this.cancelled.push(runId);
        this.runs.set(runId, "RUN_STATUS_CANCELLING");
        return create(CancelRunResponseSchema);
      },
    };
    const streams = {
      heads: async (asked: readonly { readonly streamId: string }[]) =>
        asked.flatMap(({ streamId }) => (this.runs.has(streamId) ? [{ namespace: NAMESPACE, streamId, kind: "run" as const, seq: 1 }] : [])),
      listed: async (_: string, ids: readonly string[]) => ids.flatMap((id) => (this.runs.has(id) ? [{ streamId: id, status: this.runs.get(id) }] : [])),
    };
    const { store } = this;
    const ports = {
      findScheduleRun: store.findScheduleRun,
      finishTime: store.finishTime,
      recordTrigger: store.recordTrigger,
      ...streams,
    } as unknown as ConstructorParameters<typeof ScheduleRuns>[0]["store"];
    this.schedules = new Schedules({ store, runs: new ScheduleRuns({ store: ports, workflow }), onProblem: (error) => this.problems.push(error) });
  }

  /** Every minute. */
  async put(scheduleId: string, overlap: OverlapPolicy = OverlapPolicy.SKIP, spec: Uint8Array = specOf(overlap)): Promise<void> {
    const run = toBinary(StartRunRequestSchema, create(StartRunRequestSchema, { definition: { id: "w", version: "v1" }, labels: { team: "a" } }));
    await this.store.saveSchedule(NAMESPACE, {
      scheduleId,
      spec,
      run,
      workflowId: "w",
      workflowVersion: "v1",
      paused: false,
      note: "",
      updatedBy: "x",
      begins: true,
      expectedVersion: 0,
      artifacts: [],
      referenceId: "",
    });
    await this.schedules.round();
  }

  async at(minutes: number): Promise<void> {
    this.store.nowMs = START_MS + minutes * 60_000;
    await this.schedules.round();
  }

  /** Times in order: minute, outcome and reason. */
  outcomes(scheduleId = "s"): string[] {
    return this.store.times(scheduleId).map(({ atMs, outcome, error, count }) => {
      const reason = error === undefined ? "" : ` ${fromBinary(ForgeErrorSchema, error).reason}`;
      return `${(atMs - START_MS) / 60_000} ${outcome}${count === 1 ? "" : ` x${count}`}${reason}`;
    });
  }

  endRuns(status = "RUN_STATUS_COMPLETED"): void {
    for (const runId of this.runs.keys()) this.runs.set(runId, status);
  }
}

function specOf(overlap: OverlapPolicy): Uint8Array {
  return toBinary(ScheduleSpecSchema, create(ScheduleSpecSchema, { cron: ["* * * * *"], timeZone: "UTC", overlap, catchUpWindow: durationFromMs(180_000) }));
}

describe("schedules", () => {
  it("start a run at each time and at no other moment, in the schedule's name and with its label", async () => {
    const world = new World();
    await world.put("s");
    expect(await world.schedules.round()).toBe(5_000);
    await world.at(0.99);
    expect(await world.schedules.round()).toBeCloseTo(600, -1);
    expect(world.started).toEqual([]);
    await world.at(1);
    await world.at(1);
    await world.at(1.5);
    expect(world.started).toHaveLength(1);
    expect(world.started[0]).toMatchObject({
      request: { definition: { id: "w" }, labels: { team: "a", schedule_id: "s" }, header: { commandId: "schedule:s:2026-01-01T00:01:00.000Z" } },
      call: { namespace: NAMESPACE, principal: "schedule:s" },
    });
    expect(world.outcomes()).toEqual(["1 STARTED"]);
    expect(world.problems).toEqual([]);
  });

  it("skip while the last run is active, whatever it does, and go on after it", async () => {
    const world = new World();
    await world.put("s");
    await world.at(1);
    for (const [index, status] of ["RUNNING", "PAUSED", "WAITING", "CANCELLING"].entries()) {
      world.endRuns(`RUN_STATUS_${status}`);
      await world.at(2 + index);
    }
    world.endRuns("RUN_STATUS_FAILED");
    await world.at(6);
    expect(world.outcomes()).toEqual(["1 STARTED", ...[2, 3, 4, 5].map((minute) => `${minute} SKIPPED RUN_ACTIVE`), "6 STARTED"]);
  });

  it("let one wait and start it soon after the end of the run before", async () => {
    const world = new World();
    await world.put("s", OverlapPolicy.BUFFER_ONE);
    await world.at(1);
    await world.at(2);
    await world.at(3);
    expect(world.outcomes()).toEqual(["1 STARTED", "2 BUFFERED", "3 SKIPPED RUN_ACTIVE"]);
    world.endRuns();
    await world.at(3.1);
    expect(world.outcomes()).toEqual(["1 STARTED", "2 STARTED", "3 SKIPPED RUN_ACTIVE"]);
    expect(world.started).toHaveLength(2);
  });

  it("cancel the run before and start once it has stopped, also where asking for it failed at first", async () => {
    const world = new World();
    await world.put("s", OverlapPolicy.CANCEL_OTHER);
    await world.at(1);
    const [first] = world.runs.keys();
    world.cancelFaults.push(new ForgeError(ErrorCode.STORAGE_ERROR, "the connection was lost"));
    await world.at(2);
    expect(world.cancelled).toEqual([]);
    await world.at(2.1);
    expect(world.cancelled).toEqual([first]);
    expect(world.outcomes()).toEqual(["1 STARTED", "2 BUFFERED"]);
    world.endRuns("RUN_STATUS_CANCELLED");
    await world.at(2.2);
    expect(world.outcomes()).toEqual(["1 STARTED", "2 STARTED"]);
    expect(world.problems).toHaveLength(1);
  });

  it("make up for an absence as far back as they may, a bounded part at a time", async () => {
    const world = new World();
    await world.put("s", OverlapPolicy.ALLOW_ALL);
    await world.at(10.5);
    expect(world.outcomes()).toEqual(["1 MISSED x7", "8 STARTED", "9 STARTED", "10 STARTED"]);
    const month = toBinary(
      ScheduleSpecSchema,
      create(ScheduleSpecSchema, { cron: ["* * * * *"], timeZone: "UTC", overlap: OverlapPolicy.ALLOW_ALL, catchUpWindow: durationFromMs(30 * 86_400_000) }),
    );
    await world.put("long", OverlapPolicy.ALLOW_ALL, month);
    await world.put("other");
    world.started.length = 0;
    await world.at(60);
    expect(world.outcomes("long")).toHaveLength(20);
    expect(world.outcomes("other")).toEqual(["11 MISSED x46", "57 STARTED", "58 SKIPPED RUN_ACTIVE", "59 SKIPPED RUN_ACTIVE", "60 SKIPPED RUN_ACTIVE"]);
    await world.at(60);
    await world.at(60);
    expect(world.outcomes("long")).toHaveLength(50);
    expect(new Set(world.started.map(({ request }) => request.header?.commandId)).size).toBe(world.started.length);
  });

  it("do nothing while a clock that stepped back has not come to where it was, and then go on", async () => {
    const world = new World();
    await world.put("s", OverlapPolicy.ALLOW_ALL);
    await world.at(3);
    await world.at(1);
    await world.at(2);
    await world.at(3);
    await world.at(4);
    expect(world.outcomes()).toEqual(["1 STARTED", "2 STARTED", "3 STARTED", "4 STARTED"]);
    expect(world.started).toHaveLength(4);
  });

  it("record why a run could not be started, and try again at the next time", async () => {
    const world = new World();
    await world.put("s");
    world.faults.push(ForgeError.validation("function", "nobody serves f", { reason: "FUNCTION_NOT_SERVED" }));
    await world.at(1);
    await world.at(1.5);
    await world.at(2);
    expect(world.outcomes()).toEqual(["1 FAILED FUNCTION_NOT_SERVED", "2 STARTED"]);
  });

  it("start what was taken by one that died before it could, and once where its answer was lost", async () => {
    const world = new World();
    await world.put("s");
    world.faults.push("lost-after");
    await world.at(1);
    expect(world.outcomes()).toEqual(["1 STARTING"]);
    // It counts as active meanwhile.
    await world.at(1.01);
    expect(world.started).toHaveLength(1);
    await world.at(1.1);
    expect(world.outcomes()).toEqual(["1 STARTED"]);
    expect(world.started).toHaveLength(1);
    expect(world.problems).toHaveLength(1);
  });

  it("give up a start that the store refuses over and over, and say why", async () => {
    const world = new World();
    await world.put("s");
    world.faults.push(...Array.from({ length: 20 }, () => new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, "full", { reason: "FULL" })));
    await world.at(1);
    await world.at(2);
    await world.at(10.9);
    expect(world.outcomes()[0]).toBe("1 STARTING");
    await world.at(11.1);
    expect(world.outcomes()[0]).toBe("1 FAILED FULL");
  });

  it("go on beside one that can't be decided on, which is left alone for a while", async () => {
    const world = new World();
    await world.put("a", OverlapPolicy.SKIP, Buffer.from("no protobuf"));
    await world.put("b", OverlapPolicy.SKIP, toBinary(ScheduleSpecSchema, create(ScheduleSpecSchema, { cron: ["* * * * *"], timeZone: "Mars/Olympus" })));
    await world.put("s");
    await world.at(1);
    expect(world.outcomes()).toEqual(["1 STARTED"]);
    const told = world.problems.length;
    expect(told).toBeGreaterThanOrEqual(2);
    await world.schedules.round();
    expect(world.problems).toHaveLength(told);
  });

  it("forget what waited and what passed while paused", async () => {
    const world = new World();
    await world.put("s", OverlapPolicy.BUFFER_ONE);
    await world.at(1);
    await world.at(2);
    const change = { note: undefined, updatedBy: "x", error: toBinary(ForgeErrorSchema, create(ForgeErrorSchema, { reason: "SCHEDULE_PAUSED" })) };
    await world.store.pauseSchedule(NAMESPACE, "s", { ...change, paused: true });
    world.endRuns();
    await world.at(3);
    await world.store.pauseSchedule(NAMESPACE, "s", { ...change, paused: false });
    await world.at(3.5);
    await world.at(4);
    expect(world.outcomes()).toEqual(["1 STARTED", "2 SKIPPED SCHEDULE_PAUSED", "4 STARTED"]);
  });
});
