import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type ConnectClient, commandHeader } from "@forge/client";
import { createControlPlane } from "@forge/engine";
import type { Store } from "@forge/engine/ports";
import { StreamKind } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import { ArchiveRunsRequestSchema, OnError, RunSchema, RunStatus, StepStatus } from "@forge/protocol/workflow";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, freePorts, NAMESPACE, startCluster } from "../harness/cluster.ts";
import type { ControlPlaneConfig } from "../harness/control-plane-entry.ts";
import { refusalOf } from "../harness/refusal.ts";
import { Service } from "../harness/service.ts";
import { runEnded, runStream, startRun, threeSteps, until } from "../harness/work.ts";

const RUNS = 120;
const noteInputs = { call: { kind: { case: "literalJson" as const, value: "{}" } } };
const note = { id: "note", version: "v1", steps: [{ id: "note", kind: { case: "function" as const, value: { name: "test.note" } }, inputs: noteInputs }] };
const heldNote = {
  ...note,
  steps: [{ ...note.steps[0], id: "held", inputs: { call: { kind: { case: "literalJson" as const, value: '{"hold":"before-effect"}' } } } }],
};

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ controlPlanes: 2, executors: 1 });
});
afterAll(() => cluster?.close());

/** Everything that is told of a run, as bytes. */
async function allOf(client: ConnectClient, runId: string) {
  const { run } = await client.workflow.getRun({ runId });
  const events = await runEnded(client, runId);
  const replayed = await client.workflow.replayRun({ runId, verifyState: true });
  return {
    run: Buffer.from(toBinary(RunSchema, run ?? create(RunSchema))).toString("base64"),
    events: events.map((event) => Buffer.from(toBinary(EventSchema, event)).toString("base64")),
    replayed,
  };
}

/** A control plane in this process, on a store of which the test decides what it does. */
async function archiveOn(store: Store, runId: string) {
  const plane = await createControlPlane({ store, dispatches: false, onProblem: () => undefined });
  const call = { namespace: NAMESPACE, principal: "tester", role: "admin" as const, signal: new AbortController().signal };
  try {
    return await plane.workflow.archiveRuns(create(ArchiveRunsRequestSchema, { runId }), call);
  } finally {
    await plane.close();
  }
}

const isArchived = async (runId: string): Promise<boolean> =>
  (await cluster.client.workflow.listRuns({ pageSize: 500 })).runs.some((run) => run.runId === runId && run.archived);

it("an archived run is listed, read, followed, replayed and forked as before, and takes no command, on every control plane", async () => {
  const commandId = randomUUID();
  const runId = await startRun(cluster.client, threeSteps(), commandId);
  await runEnded(cluster.client, runId);
  const before = await Promise.all(cluster.clients.map((client) => allOf(client, runId)));

  const { runs } = await cluster.client.workflow.archiveRuns({ runId });
  expect(runs).toMatchObject([{ runId, eventCount: BigInt(before[0]?.events.length ?? 0) }]);
  expect(Number(runs[0]?.byteCount)).toBeGreaterThan(0);
  expect(await cluster.inspector.events(runId)).toEqual([]);
  expect(await Promise.all(cluster.clients.map((client) => allOf(client, runId)))).toStrictEqual(before);
  expect(before[0]?.replayed.mismatches).toEqual([]);
  expect(await isArchived(runId)).toBe(true);
  expect(await cluster.inspector.violations({ id: runId, kind: "run" }, false)).toEqual([]);

  for (const { workflow, event } of cluster.clients) {
    const header = () => commandHeader();
    const refused = [
      workflow.cancelRun({ header: header(), runId }),
      workflow.signalRun({ header: header(), runId, name: "go" }),
      workflow.resumeRun({ header: header(), runId }),
      workflow.pauseRun({ header: header(), runId }),
      workflow.continueRun({ header: header(), runId }),
      startRun({ workflow } as ConnectClient, threeSteps(), commandId),
      event.getCommandResult({ commandId, createKind: StreamKind.RUN }),
    ];
    expect(await Promise.all(refused.map(refusalOf))).toEqual(refused.map(() => "CONFLICT RUN_ARCHIVED"));
    expect(await workflow.archiveRuns({ runId })).toMatchObject({ runs: [] });
  }

  const fork = await cluster.clients[1]?.workflow.forkRun({ header: commandHeader(), runId, stepId: "say" });
  await runEnded(cluster.client, fork?.runId as string);
  const { run } = await cluster.client.workflow.getRun({ runId: fork?.runId as string });
  expect(run).toMatchObject({ status: RunStatus.COMPLETED, origin: { runId, stepId: "say" } });
  expect(run?.steps.find(({ stepId }) => stepId === "append")).toMatchObject({ status: StepStatus.COMPLETED, inherited: true });
  // Whoever comes back in the middle of it goes on there.
  const rest = [];
  for await (const { kind } of cluster.client.event.subscribeEvents({ streams: [{ stream: runStream(runId), afterSeq: 2n }], noFollow: true })) {
    rest.push(kind.case === "event" ? Number(kind.value.seq) : kind.case);
  }
  expect(rest[0]).toBe(3);
  expect(rest.at(-1)).toBe("caughtUp");
});

it("killed between the artifact and the rows nothing is lost, and it is done again; an answer that is lost on its way is found done", async () => {
  const runId = await startRun(cluster.client, note);
  await runEnded(cluster.client, runId);
  const before = await allOf(cluster.client, runId);
  const lost = () => Promise.reject(new Error("the connection was lost"));
  await expect(archiveOn({ ...cluster.store, archiveStream: lost }, runId)).rejects.toThrow("lost");
  expect(await isArchived(runId)).toBe(false);
  expect(await allOf(cluster.client, runId)).toStrictEqual(before);
  const lostAfter: Store["archiveStream"] = async (archived) => {
    await cluster.store.archiveStream(archived);
    return lost();
  };
  await expect(archiveOn({ ...cluster.store, archiveStream: lostAfter }, runId)).rejects.toThrow("lost");
  expect(await isArchived(runId)).toBe(true);
  expect((await archiveOn(cluster.store, runId)).runs).toEqual([]);
  expect(await allOf(cluster.client, runId)).toStrictEqual(before);
});

it("what goes on, or is waited for, stays: a run, and what it has started", async () => {
  const inner = { id: "inner", kind: { case: "workflow" as const, value: { definition: note } }, inputs: {} };
  const definition = { id: "outer", version: "v1", onError: OnError.FAIL_FAST, steps: [inner, { ...heldNote.steps[0] }] };
  const runId = await startRun(cluster.client, definition);
  const callId = await cluster.executors[0]?.heldAt("before-effect");
  const child = (await cluster.client.workflow.getRun({ runId })).run?.steps[0]?.childRunId as string;
  for (const id of [runId, child]) {
    expect(await refusalOf(cluster.client.workflow.archiveRuns({ runId: id }))).toBe("CONFLICT RUN_ACTIVE");
  }
  expect((await cluster.client.workflow.archiveRuns({ olderThan: durationFromMs(86_400_000) })).runs).toEqual([]);
  cluster.executors[0]?.go(callId as string);
  await runEnded(cluster.client, runId);
  const wouldBe = await cluster.client.workflow.archiveRuns({ dryRun: true, pageSize: 500 });
  expect(wouldBe.runs.map((run) => run.runId)).toEqual(expect.arrayContaining([runId, child]));
  expect(await isArchived(child)).toBe(false);
  const done = await cluster.client.workflow.archiveRuns({ pageSize: 500 });
  expect(done.runs.map((run) => run.runId).toSorted()).toEqual(wouldBe.runs.map((run) => run.runId).toSorted());
  expect(await isArchived(child)).toBe(true);
  expect((await cluster.client.workflow.getRun({ runId })).run?.steps[0]).toMatchObject({ childRunId: child, status: StepStatus.COMPLETED });
  expect(await refusalOf(cluster.client.workflow.archiveRuns({ runId: randomUUID() }))).toBe("NOT_FOUND RUN_NOT_FOUND");
  expect(await refusalOf(cluster.client.workflow.archiveRuns({ runId, olderThan: durationFromMs(1) }))).toBe("VALIDATION");
  expect(await refusalOf(cluster.client.workflow.archiveRuns({ olderThan: durationFromMs(-1) }))).toBe("VALIDATION");
});

it("waits while an older control plane runs, which could not read it", async () => {
  const runId = await startRun(cluster.client, note);
  await runEnded(cluster.client, runId);
  const [port] = (await freePorts(1)) as [number];
  const formats = { reads: 1, kinds: {} };
  const older = new Service("control-plane-entry.ts", {
    connection: cluster.database.connection,
    port,
    leaseTtlMs: 3_000,
    formats,
  } satisfies ControlPlaneConfig);
  await older.start();
  try {
    const archive = () => refusalOf(cluster.client.workflow.archiveRuns({ runId }));
    await until("it is known that an older one runs", async () => (await archive()) === "UNSUPPORTED_VERSION FORMAT_NOT_READ");
    expect((await cluster.client.workflow.archiveRuns({ runId, dryRun: true })).runs).toHaveLength(1);
    await older.stop();
    await until("it has ended", async () => (await archive()) === "accepted");
  } finally {
    await older.kill();
  }
  expect(await isArchived(runId)).toBe(true);
});

it("by policy all that ended long enough ago is archived once, by control planes that are killed over and over", async () => {
  const ids = await Promise.all(Array.from({ length: RUNS }, () => startRun(cluster.client, note)));
  for (const id of ids) await runEnded(cluster.client, id);
  const before = await allOf(cluster.client, ids[0] as string);
  const config: ControlPlaneConfig = { connection: cluster.database.connection, port: 0, leaseTtlMs: 3_000, retention: { archiveAfterMs: 0 } };
  const planes = (await freePorts(2)).map((port) => new Service("control-plane-entry.ts", { ...config, port }));
  try {
    const count = async () => (await cluster.client.workflow.listRuns({ pageSize: 500, workflowId: "note" })).runs.filter((run) => run.archived).length;
    const areAll = async () => (await Promise.all(ids.map(isArchived))).every(Boolean);
    let seen = await count();
    for (let kill = 0; kill < 4; kill++) {
      await Promise.all(planes.map((plane) => plane.start()));
      await until("something more was archived, or all", async () => (await count()) > seen || (await areAll()));
      await Promise.all(planes.map((plane) => plane.kill()));
      seen = await count();
    }
    await Promise.all(planes.map((plane) => plane.start()));
    await until("all were archived", areAll);
  } finally {
    await Promise.all(planes.map((plane) => plane.kill()));
  }
  for (const id of ids) expect((await runEnded(cluster.client, id)).length).toBe(before.events.length);
  expect(await allOf(cluster.clients[1] as ConnectClient, ids[0] as string)).toStrictEqual(before);
});
