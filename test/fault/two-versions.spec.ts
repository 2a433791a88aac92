import { commandHeader, type ForgeClient } from "@forge/client";
import { ErrorCode } from "@forge/protocol/common";
import { TurnOutcome } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import type { Service } from "../harness/service.ts";
import { createSession, eventsUntil, kindsOf, sessionStream, startTurn, turnEnded, until } from "../harness/work.ts";

// The newer version brought a kind that the older does not know: here one that both write, declared to be new, so that everything else is the same.
const KINDS = { "session.policy_updated": 2 };

let cluster: Cluster;
let newer: ForgeClient;
let older: ForgeClient;
let olderService: Service;
beforeAll(async () => {
  cluster = await startCluster({
    controlPlanes: 2,
    executors: 2,
    formats: [
      { reads: 2, kinds: KINDS },
      { reads: 1, kinds: KINDS },
    ],
  });
  newer = cluster.clients[0] as ForgeClient;
  older = cluster.clients[1] as ForgeClient;
  olderService = cluster.controlPlanes[1] as Service;
});
afterAll(() => cluster?.close());

function updatePolicy(client: ForgeClient, sessionId: string, commandId?: string) {
  return client.session.updateSessionPolicy({ header: commandHeader(commandId), sessionId, policy: { defaultDecision: Decision.DENY } });
}

const ECHO = { agent: { model: "demo/echo", tools: [] } };

describe("two versions of the control plane", () => {
  let session: string;

  it("the newer writes what is new while it is alone", async () => {
    await olderService.stop();
    session = await createSession(newer, { agent: { model: "demo/echo", tools: [], budget: { wallTime: { seconds: 20n } } } });
    await updatePolicy(newer, session);
    expect((await turnEnded(newer, session, await startTurn(newer, session, "before"))).at(-1)?.kind).toBe("turn.completed");
  });

  it("the older, started beside it, says which streams it leaves to the newer, shows their events, and serves all others", async () => {
    await olderService.start();
    await expect(older.session.getSessionSnapshot({ sessionId: session })).rejects.toMatchObject({
      code: ErrorCode.UNSUPPORTED_VERSION,
      reason: "UNKNOWN_EVENT",
      detail: { retryable: true },
    });
    await expect(older.session.startTurn({ header: commandHeader(), sessionId: session, input: [] })).rejects.toMatchObject({ reason: expect.any(String) });
    const events = await eventsUntil(older, sessionStream(session), (event) => event.kind === "turn.completed");
    expect(kindsOf(events)).toContain("session.policy_updated");
    expect(olderService.log.join("\n")).toContain("left to a newer control plane");
    const other = await createSession(older, ECHO);
    expect((await turnEnded(newer, other, await startTurn(older, other, "hello"))).at(-1)?.kind).toBe("turn.completed");
  });

  it("the newer writes nothing new while the older runs, and the command may be sent again once it has ended", async () => {
    const other = await createSession(newer, ECHO);
    await expect(updatePolicy(newer, other, "policy")).rejects.toMatchObject({
      code: ErrorCode.UNSUPPORTED_VERSION,
      reason: "FORMAT_NOT_READ",
      detail: { retryable: true },
    });
    await olderService.stop();
    await updatePolicy(newer, other, "policy");
    await olderService.start();
    await expect(older.session.getSessionSnapshot({ sessionId: other })).rejects.toMatchObject({ reason: "UNKNOWN_EVENT" });
  });

  it("work of a stream that the older can't read waits for a worker of the newer, though the older has one that is free", async () => {
    await cluster.executors[0]?.kill();
    const turnId = await startTurn(newer, session, "beside");
    // A turn that both can read shows that the older's worker is there and free.
    const other = await createSession(older, ECHO);
    await turnEnded(older, other, await startTurn(older, other, "hello"));
    await until("the older has given the task back", async () =>
      (await cluster.store.tasksOf("default", session)).some((task) => task.epoch > 0 && !task.started),
    );
    await cluster.executors[0]?.start();
    const events = await turnEnded(newer, session, turnId);
    expect(events.at(-1)?.kind).toBe("turn.completed");
    expect(await cluster.inspector.violations({ id: session, kind: "session" }, true)).toStrictEqual([]);
  });

  it("timers of such a stream are fired by the newer", async () => {
    const timed = await createSession(newer, { agent: { model: "demo/echo", tools: [], budget: { wallTime: { seconds: 2n } } } });
    await olderService.stop();
    await updatePolicy(newer, timed);
    await olderService.start();
    await cluster.executors[0]?.kill();
    try {
      const events = await turnEnded(newer, timed, await startTurn(newer, timed, "too slow"));
      const end = events.at(-1)?.payload;
      expect(end, kindsOf(events).join(" ")).toMatchObject({ value: { outcome: TurnOutcome.BUDGET_WALL_TIME } });
    } finally {
      await cluster.executors[0]?.start();
    }
  });
});
