import { type ForgeClient, followEvents } from "@forge/client";
import type { Event } from "@forge/protocol/event";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { createSession, kindsOf, sessionStream, startTurn, turnEnded, until } from "../harness/work.ts";

/** The control planes look for what they missed every five seconds: what comes much sooner came by a wake-up. */
const PROMPT_MS = 1_500;
const TURNS = 24;

let cluster: Cluster;
beforeAll(async () => {
  // The executor talks to the first only, so whatever is started through the second must wake up the first.
  cluster = await startCluster({ controlPlanes: 2, executors: 1 });
});
afterAll(() => cluster?.close());

interface Follower {
  readonly events: readonly Event[];
  stop(): Promise<void>;
}

function follow(client: ForgeClient, sessionId: string): Follower {
  const abort = new AbortController();
  const events: Event[] = [];
  const following = (async () => {
    for await (const followed of followEvents(client, { streams: [{ stream: sessionStream(sessionId) }], signal: abort.signal })) {
      if (followed.kind === "event") events.push(followed.event);
    }
  })();
  return {
    events,
    stop: async () => {
      abort.abort();
      await following;
    },
  };
}

async function terminateListeners(): Promise<number> {
  const client = new pg.Client(cluster.database.connection);
  await client.connect();
  try {
    const { rowCount } = await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'forge listener'");
    return rowCount ?? 0;
  } finally {
    await client.end();
  }
}

function expectContiguous(events: readonly Event[], head: number): void {
  expect(events.map((event) => Number(event.seq))).toStrictEqual(Array.from({ length: head }, (_, index) => index + 1));
}

it("commands for one stream that alternate between two control planes leave no gap, no double and no lost wake-up", async () => {
  const sessionId = await createSession(cluster.client, { agent: { model: "demo/echo", tools: [] } });
  const followers = cluster.clients.map((client) => follow(client, sessionId));
  const latenciesMs: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const at = turn % 2;
    const turnId = await startTurn(cluster.clients[at] as ForgeClient, sessionId, `turn ${turn}`);
    const beganMs = Date.now();
    // Seen by the subscriber at the other control plane, through its end.
    const other = followers[1 - at] as Follower;
    await until(`turn ${turn} is seen at the other control plane`, () => other.events.some((event) => event.turnId === turnId && event.kind === "turn.completed"));
    latenciesMs.push(Date.now() - beganMs);
    // The other one may know of the end before this one does; a command there must find the truth all the same.
  }
  const head = Number((await cluster.client.session.getSessionSnapshot({ sessionId })).session?.seq);
  for (const follower of followers) {
    await until("all events are seen", () => follower.events.length >= head);
    await follower.stop();
    expectContiguous(follower.events, head);
    expect(kindsOf(follower.events).filter((kind) => kind === "turn.completed")).toHaveLength(TURNS);
  }
  expect(await cluster.inspector.violations({ id: sessionId, kind: "session" }, true)).toStrictEqual([]);
  // Most of them: a machine that is busy with other things may be late now and then.
  expect(latenciesMs.filter((ms) => ms < PROMPT_MS).length, `latencies: ${latenciesMs.join(", ")} ms`).toBeGreaterThanOrEqual(TURNS * 0.75);
});

it("commands that reach both control planes at once for one stream are decided one after the other", async () => {
  const sessionId = await createSession(cluster.client, { agent: { model: "demo/echo", tools: [] } });
  for (let round = 0; round < 10; round++) {
    const outcomes = await Promise.allSettled(cluster.clients.flatMap((client) => [startTurn(client, sessionId, "one"), startTurn(client, sessionId, "another")]));
    const won = outcomes.filter((outcome) => outcome.status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ detail: { reason: "TURN_ACTIVE" } });
    await turnEnded(cluster.client, sessionId, won[0]?.value as string);
  }
  expect(await cluster.inspector.violations({ id: sessionId, kind: "session" }, true)).toStrictEqual([]);
});

it("a subscriber and a worker miss nothing when wake-ups are lost", async () => {
  const sessionId = await createSession(cluster.client, { agent: { model: "demo/echo", tools: [] } });
  const follower = follow(cluster.clients[0] as ForgeClient, sessionId);
  await until("the subscriber follows", () => follower.events.length > 0);
  for (let turn = 0; turn < 3; turn++) {
    expect(await terminateListeners()).toBeGreaterThan(0);
    const turnId = await startTurn(cluster.clients[1] as ForgeClient, sessionId, `turn ${turn}`);
    await until("the turn is seen", () => follower.events.some((event) => event.turnId === turnId && event.kind === "turn.completed"), 15_000);
  }
  await follower.stop();
  expectContiguous(follower.events, follower.events.length);
});
