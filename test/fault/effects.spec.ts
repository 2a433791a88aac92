import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import type { Service } from "../harness/service.ts";
import type { Point } from "../harness/test-handlers.ts";
import {
  createSession,
  eventsUntil,
  factsOf,
  kindsOf,
  runEnded,
  sessionStream,
  startRun,
  startTurn,
  type ToolName,
  threeSteps,
  turnEnded,
  until,
  useTool,
} from "../harness/work.ts";

interface HeldCall {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
}

/** A turn whose one call is held at a point. */
async function held(cluster: Cluster, tool: ToolName, point: Point): Promise<HeldCall> {
  const sessionId = await createSession(cluster.client);
  const turnId = await startTurn(cluster.client, sessionId, useTool(tool, { hold: point }));
  return { sessionId, turnId, callId: await (cluster.executors[0] as Service).heldAt(point) };
}

async function callKinds(cluster: Cluster, { sessionId, callId }: HeldCall): Promise<readonly string[]> {
  return kindsOf((await cluster.inspector.events(sessionId)).filter((event) => event.toolCallId === callId));
}

async function effectsOf(cluster: Cluster, callId: string): Promise<number> {
  return (await cluster.effects()).get(callId) ?? 0;
}

async function inOrder(cluster: Cluster): Promise<void> {
  for (const stream of await cluster.inspector.streams()) expect(await cluster.inspector.violations(stream, true)).toStrictEqual([]);
}

describe("when the executor is killed", () => {
  let cluster: Cluster;
  let executor: Service;
  beforeAll(async () => {
    cluster = await startCluster();
    executor = cluster.executors[0] as Service;
  });
  afterAll(() => cluster?.close());

  it("before a call's start was on record, the call is given out again and has its effect once", async () => {
    const call = await held(cluster, "test.append", "before-start");
    await executor.restart();
    expect(await executor.heldAt("before-start")).toBe(call.callId);
    executor.go(call.callId);
    await turnEnded(cluster.client, call.sessionId, call.turnId);
    expect(await callKinds(cluster, call)).toStrictEqual(["tool.requested", "tool.started", "tool.completed"]);
    expect(await effectsOf(cluster, call.callId)).toBe(1);
    await inOrder(cluster);
  });

  it.for([
    ["between a call's start and its effect", "before-effect", 0],
    ["between a call's effect and its answer", "after-effect", 1],
  ] as const)("%s, what the call did is unknown, is said to the model, and is not tried again", async ([, point, effects]) => {
    const call = await held(cluster, "test.append", point);
    await executor.restart();
    const events = await turnEnded(cluster.client, call.sessionId, call.turnId);
    expect(await callKinds(cluster, call)).toStrictEqual(["tool.requested", "tool.started", "tool.settled_unknown"]);
    expect(await effectsOf(cluster, call.callId)).toBe(effects);
    // The demo model repeats what it was told of the call.
    const end = events.at(-1)?.payload;
    expect(end?.case === "turnCompleted" ? end.value.textPreview : "").toMatch(/unknown/);
    await inOrder(cluster);
  });

  it("after the effect of an idempotent call, the call is given out again and ends once", async () => {
    const call = await held(cluster, "test.again", "after-effect");
    await executor.restart();
    expect(await executor.heldAt("after-effect")).toBe(call.callId);
    executor.go(call.callId);
    await turnEnded(cluster.client, call.sessionId, call.turnId);
    expect((await callKinds(cluster, call)).filter((kind) => kind === "tool.completed")).toHaveLength(1);
    expect(await effectsOf(cluster, call.callId)).toBe(2);
    await inOrder(cluster);
  });

  it("in a run's function step, the function runs again and the step ends once; in its tool step, the run fails and says why", async () => {
    const runId = await startRun(cluster.client, threeSteps({ hold: "after-effect" }));
    const note = await executor.heldAt("after-effect");
    await executor.restart();
    expect(await executor.heldAt("after-effect")).toBe(note);
    executor.go(note);
    const append = await executor.heldAt("after-effect");
    await executor.restart();
    const events = await runEnded(cluster.client, runId);
    expect([await effectsOf(cluster, note), await effectsOf(cluster, append)]).toStrictEqual([2, 1]);
    expect(events.filter((event) => event.kind === "step.completed").map((event) => event.stepId)).toStrictEqual(["note"]);
    expect(events.at(-1)?.payload).toMatchObject({ case: "runFailed", value: { error: { reason: "UNKNOWN_EFFECT" } } });
    await inOrder(cluster);
  });
});

describe("a start after the task table was lost", () => {
  it("makes it anew from the streams, and the work goes on", async () => {
    const cluster = await startCluster();
    try {
      const executor = cluster.executors[0] as Service;
      const call = await held(cluster, "test.append", "before-start");
      await Promise.all([executor.kill(), cluster.controlPlanes[0]?.kill()]);
      await cluster.database.execute("delete from forge.task");
      await Promise.all([executor.start(), cluster.controlPlanes[0]?.start()]);
      expect(await executor.heldAt("before-start")).toBe(call.callId);
      executor.go(call.callId);
      await turnEnded(cluster.client, call.sessionId, call.turnId);
      expect(await effectsOf(cluster, call.callId)).toBe(1);
      await inOrder(cluster);
    } finally {
      await cluster.close();
    }
  });
});

describe("a worker that is alive", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ leaseTtlMs: 30_000 });
  });
  afterAll(() => cluster?.close());

  it.for(["before-start", "before-effect", "after-effect"] as const)(
    "keeps the call that it holds %s over a kill of the control plane and of the database, and settles it",
    async (point) => {
      const executor = cluster.executors[0] as Service;
      const call = await held(cluster, "test.append", point);
      await Promise.all([cluster.controlPlanes[0]?.kill(), cluster.database.crash()]);
      // It goes on while nobody is there, and has to bring its start or its answer later.
      executor.go(call.callId);
      await cluster.controlPlanes[0]?.start();
      await turnEnded(cluster.client, call.sessionId, call.turnId);
      expect(await callKinds(cluster, call)).toStrictEqual(["tool.requested", "tool.started", "tool.completed"]);
      expect(await effectsOf(cluster, call.callId)).toBe(1);
      await inOrder(cluster);
    },
  );
});

describe("a worker that was frozen until its lease was lost", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ executors: 2 });
  });
  afterAll(() => cluster?.close());

  async function heldByEither(sessionId: string, point: Point, tool: ToolName): Promise<{ turnId: string; callId: string; frozen: Service; other: Service }> {
    const turnId = await startTurn(cluster.client, sessionId, useTool(tool, { hold: point }));
    let found: { callId: string; frozen: Service; other: Service } | undefined;
    await until("an executor holds the call", () => {
      for (const [index, frozen] of cluster.executors.entries()) {
        const callId = frozen.takeHeld(point);
        if (callId !== undefined) found = { callId, frozen, other: cluster.executors[1 - index] as Service };
      }
      return found !== undefined;
    });
    return { turnId, ...(found as NonNullable<typeof found>) };
  }

  it("gets no go-ahead for a call that another has got by then", async () => {
    const sessionId = await createSession(cluster.client);
    const { turnId, callId, frozen, other } = await heldByEither(sessionId, "before-start", "test.append");
    frozen.freeze();
    expect(await other.heldAt("before-start")).toBe(callId);
    // The frozen one wakes up and goes on as if nothing had happened, before it hears of anything.
    frozen.go(callId);
    frozen.thaw();
    other.go(callId);
    await turnEnded(cluster.client, sessionId, turnId);
    expect(await callKinds(cluster, { sessionId, turnId, callId })).toStrictEqual(["tool.requested", "tool.started", "tool.completed"]);
    expect(await effectsOf(cluster, callId)).toBe(1);
    await inOrder(cluster);
  });

  it("changes nothing by its late answer", async () => {
    const sessionId = await createSession(cluster.client);
    const { turnId, callId, frozen } = await heldByEither(sessionId, "after-effect", "test.append");
    frozen.freeze();
    await eventsUntil(cluster.client, sessionStream(sessionId), (event) => event.kind === "tool.settled_unknown");
    frozen.go(callId);
    frozen.thaw();
    await turnEnded(cluster.client, sessionId, turnId);
    // Both workers work again.
    for (let index = 0; index < 2; index++) await turnEnded(cluster.client, sessionId, await startTurn(cluster.client, sessionId, "hello"));
    expect((await callKinds(cluster, { sessionId, turnId, callId })).filter((kind) => kind !== "tool.reported_late")).toStrictEqual([
      "tool.requested",
      "tool.started",
      "tool.settled_unknown",
    ]);
    expect(factsOf(await cluster.inspector.events(sessionId)).filter((kind) => kind === "turn.completed")).toHaveLength(3);
    expect(await effectsOf(cluster, callId)).toBe(1);
    await inOrder(cluster);
  });
});
