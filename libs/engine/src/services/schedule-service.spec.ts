import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Call, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import {
  ContinueScheduleRequestSchema,
  DeleteScheduleRequestSchema,
  GetScheduleRequestSchema,
  ListSchedulesRequestSchema,
  ListScheduleTimesRequestSchema,
  OverlapPolicy,
  PauseScheduleRequestSchema,
  type PutScheduleRequest,
  PutScheduleRequestSchema,
  ScheduleOutcome,
  ScheduleSpecSchema,
  TriggerScheduleRequestSchema,
} from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import type { Store } from "../ports/index.ts";
import { ScheduleRuns } from "../schedules/schedule-runs.ts";
import { MemorySchedules } from "../testing/memory-schedules.ts";
import { createScheduleService } from "./schedule-service.ts";

const CALL: Call = { namespace: "default", principal: "ann", role: "operator", signal: new AbortController().signal };
const RUN = { definition: { id: "w", version: "v1", steps: [{ id: "s", kind: { case: "function" as const, value: { name: "f" } } }] } };
type Spec = MessageInitShape<typeof ScheduleSpecSchema>;

function setup() {
  const store = new MemorySchedules();
  store.nowMs = Date.now();
  const started: string[] = [];
  const workflow = {
    startRun: async ({ header }: { readonly header?: { readonly commandId: string } }) => {
      started.push(header?.commandId ?? "");
      return { runId: "9c1d7c4e-0000-7000-8000-000000000001" };
    },
  };
  const ports = Object.assign(store, { heads: async () => [], listed: async () => [], getArtifact: async () => undefined }) as unknown as Store;
  let changes = 0;
  const service = createScheduleService({
    store: ports,
    runs: new ScheduleRuns({ store: ports, workflow: workflow as unknown as ConstructorParameters<typeof ScheduleRuns>[0]["workflow"] }),
    onChanged: () => changes++,
  });
  const request = (spec: Spec = {}, more: Partial<MessageInitShape<typeof PutScheduleRequestSchema>> = {}): PutScheduleRequest =>
    create(PutScheduleRequestSchema, { scheduleId: "s", spec: create(ScheduleSpecSchema, { cron: ["@daily"], run: RUN, ...spec } as Spec), ...more });
  return {
    store,
    service,
    started,
    changes: () => changes,
    put: async (spec?: Spec, more?: Partial<MessageInitShape<typeof PutScheduleRequestSchema>>) =>
      (await service.putSchedule(request(spec, more), CALL)).schedule,
    times: (page: object = {}) => service.listScheduleTimes(create(ListScheduleTimesRequestSchema, { scheduleId: "s", ...page }), CALL),
    pause: (more: object = {}) => service.pauseSchedule(create(PauseScheduleRequestSchema, { scheduleId: "s", ...more }), CALL),
    resume: (more: object = {}) => service.continueSchedule(create(ContinueScheduleRequestSchema, { scheduleId: "s", ...more }), CALL),
  };
}

describe("a schedule", () => {
  it("is kept with its defaults, and the same again changes nothing, defaults written out or not", async () => {
    const { put, store, changes } = setup();
    const first = await put();
    expect(first).toMatchObject({
      spec: { timeZone: "UTC", overlap: OverlapPolicy.SKIP, catchUpWindow: { seconds: 60n }, run: { definition: { id: "w" } } },
      revision: 1n,
      paused: false,
      note: "",
      updatedBy: "ann",
      lastRunId: "",
    });
    expect(timestampMs(first?.nextAt as never)).toBeGreaterThan(Date.now());
    expect(changes()).toBe(1);
    expect(await put({ timeZone: "UTC", overlap: OverlapPolicy.SKIP, catchUpWindow: { seconds: 60n } })).toStrictEqual(first);
    expect(await put({ run: { ...RUN, header: { commandId: "x" } } }, { paused: false, note: "" })).toStrictEqual(first);
    expect((await store.findSchedule("default", "s"))?.version).toBe(1);
  });

  it("that is put with other times begins anew, with another run it keeps what is due", async () => {
    const { put, store } = setup();
    await put();
    const begunMs = (await store.findSchedule("default", "s"))?.takenThroughMs as number;
    store.nowMs += 3_600_000;
    expect(await put({ run: { ...RUN, labels: { a: "b" } } })).toMatchObject({ revision: 2n });
    expect((await store.findSchedule("default", "s"))?.takenThroughMs).toBe(begunMs);
    await put({ run: RUN, timeZone: "Europe/Berlin" });
    expect((await store.findSchedule("default", "s"))?.takenThroughMs).toBe(store.nowMs);
  });

  it("is paused and continued once, and stays so over a put that says nothing of it", async () => {
    const { put, pause, resume, times } = setup();
    await put();
    expect((await times({ upcoming: 2 })).upcoming).toHaveLength(2);
    expect((await pause({ note: "why" })).schedule).toMatchObject({ paused: true, note: "why", revision: 2n });
    expect((await pause()).schedule).toMatchObject({ paused: true, note: "why", revision: 2n });
    expect((await pause()).schedule?.nextAt).toBeUndefined();
    expect((await times({ upcoming: 2 })).upcoming).toEqual([]);
    expect(await put({ cron: ["@hourly"] })).toMatchObject({ paused: true, note: "why" });
    expect(await put({ cron: ["@hourly"] }, { paused: false, note: "" })).toMatchObject({ paused: false, note: "" });
    expect(await put({ cron: ["@weekly"] }, { paused: true, note: "new" })).toMatchObject({ paused: true, note: "new" });
    expect((await resume()).schedule).toMatchObject({ paused: false, note: "new" });
  });

  it("is replaced only as it is expected to be; the same again is no conflict", async () => {
    const { put } = setup();
    await expect(put({}, { expectedRevision: 1n })).rejects.toMatchObject({ code: ErrorCode.CONFLICT, reason: "SCHEDULE_CHANGED" });
    await put({}, { expectedRevision: 0n });
    await put({ cron: ["@hourly"] }, { expectedRevision: 1n });
    expect(await put({ cron: ["@hourly"] }, { expectedRevision: 1n })).toMatchObject({ revision: 2n });
    await expect(put({ cron: ["@weekly"] }, { expectedRevision: 0n })).rejects.toMatchObject({ reason: "SCHEDULE_CHANGED" });
  });

  it("is put by whoever comes second as well, and told so where somebody always comes first", async () => {
    const { put, store } = setup();
    const { saveSchedule } = store;
    let beaten = 3;
    Object.assign(store, { saveSchedule: async (...asked: Parameters<typeof saveSchedule>) => (beaten-- > 0 ? undefined : saveSchedule(...asked)) });
    expect(await put()).toMatchObject({ revision: 1n });
    beaten = 1_000;
    await expect(put({ cron: ["@hourly"] })).rejects.toMatchObject({ reason: "SCHEDULE_CHANGED" });
  });

  it("that does not exist is not found, by any method", async () => {
    const { service, pause, resume, times } = setup();
    const named = { scheduleId: "s" };
    const header = { version: { major: 1, minor: 0 }, commandId: "c" };
    for (const call of [
      () => pause(),
      () => resume(),
      () => times(),
      () => service.getSchedule(create(GetScheduleRequestSchema, named), CALL),
      () => service.deleteSchedule(create(DeleteScheduleRequestSchema, named), CALL),
      () => service.triggerSchedule(create(TriggerScheduleRequestSchema, { ...named, header }), CALL),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND, reason: "SCHEDULE_NOT_FOUND" });
    }
  });

  it("is triggered by a command, and its times and schedules are paged", async () => {
    const { put, service, started, times, store } = setup();
    await put();
    for (const commandId of ["one", "two"]) {
      store.nowMs += 1_000;
      const header = { version: { major: 1, minor: 0 }, commandId };
      await service.triggerSchedule(create(TriggerScheduleRequestSchema, { scheduleId: "s", header }), CALL);
    }
    expect(new Set(started).size).toBe(2);
    const first = await times({ pageSize: 1 });
    expect(first.past).toMatchObject([{ commandId: "two", outcome: ScheduleOutcome.STARTED, count: 1 }]);
    const second = await times({ pageSize: 1, pageToken: first.nextPageToken });
    expect(second.past).toMatchObject([{ commandId: "one" }]);
    expect(await times({ pageSize: 1, pageToken: second.nextPageToken })).toMatchObject({ past: [], nextPageToken: "" });
    await put({}, { scheduleId: "t" });
    const page = await service.listSchedules(create(ListSchedulesRequestSchema, { pageSize: 1 }), CALL);
    expect(page).toMatchObject({ schedules: [{ scheduleId: "s", cron: ["@daily"], workflowId: "w", workflowVersion: "v1" }], nextPageToken: "s" });
    expect((await service.listSchedules(create(ListSchedulesRequestSchema, { pageToken: "s" }), CALL)).schedules).toMatchObject([{ scheduleId: "t" }]);
  });
});

describe("a put is refused with its field", () => {
  const many = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`k${index}`, ""]));
  it.each<[string, Spec, Partial<MessageInitShape<typeof PutScheduleRequestSchema>>]>([
    ["schedule_id", {}, { scheduleId: "a/b" }],
    ["schedule_id", {}, { scheduleId: "x".repeat(65) }],
    ["spec", {}, { spec: undefined }],
    ["note", {}, { note: "x".repeat(1_025) }],
    ["spec.cron", { cron: [] }, {}],
    ["spec.cron", { cron: Array.from({ length: 17 }, () => "@daily") }, {}],
    ["spec.cron[0]", { cron: ["x".repeat(257)] }, {}],
    ["spec.cron[0]", { cron: ["0 0 31 2 *"] }, {}],
    ["spec.time_zone", { timeZone: "Mars/Olympus" }, {}],
    ["spec.overlap", { overlap: 99 as OverlapPolicy }, {}],
    ["spec.jitter", { jitter: { seconds: 3_601n } }, {}],
    ["spec.jitter", { jitter: { seconds: -1n } }, {}],
    ["spec.catch_up_window", { catchUpWindow: { seconds: 30n * 86_400n, nanos: 1_000_000 } }, {}],
    ["spec.end_at", { endAt: { seconds: 1n } }, {}],
    ["spec.end_at", { startAt: { seconds: 5_000_000_000n }, endAt: { seconds: 4_000_000_000n } }, {}],
    ["spec.run.definition", { run: {} }, {}],
    ["spec.run.labels", { run: { ...RUN, labels: { schedule_id: "x" } } }, {}],
    ["spec.run.labels", { run: { ...RUN, labels: many } }, {}],
  ])("%s (%#)", async (field, spec, more) => {
    const error: unknown = await setup()
      .put(spec, more)
      .catch((refusal: unknown) => refusal);
    expect(error).toBeInstanceOf(ForgeError);
    expect(error).toMatchObject({ code: ErrorCode.VALIDATION, detail: { metadata: { field } } });
  });

  it("where its run could never start", async () => {
    const { put } = setup();
    const steps = [
      { id: "s", kind: { case: "function" as const, value: { name: "f" } }, inputs: { x: { kind: { case: "path" as const, value: "steps.none.x" } } } },
    ];
    await expect(put({ run: { definition: { id: "w", version: "v1", steps } } })).rejects.toMatchObject({ code: ErrorCode.VALIDATION });
    await expect(put({ run: { definition: { ...RUN.definition, inputs: [{ name: "must", required: true }] } } })).rejects.toMatchObject({
      code: ErrorCode.VALIDATION,
    });
  });
});
