import { commandHeader, type ForgeClient, followEvents } from "@forge/client";
import type { Event } from "@forge/protocol/event";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { createSession, sessionStream, startTurn, turnEnded, until } from "../harness/work.ts";

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
  // Told by stop.
  following.catch(() => undefined);
  return {
    events,
    stop: async () => {
      abort.abort();
      await following;
    },
  };
}

/** Ends the connections that wake-ups come by, so that those of the next moment are lost. */
function terminateListeners(): Promise<number> {
  return cluster.database.execute(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'forge listener'",
  );
}

/** Everything in order and once. Pieces of output may be gone before a follower elsewhere reads them: they are pruned when the next turn starts. */
async function expectAll(sessionId: string, seen: readonly Event[]): Promise<void> {
  const seqs = seen.map((event) => Number(event.seq));
  expect(seqs).toStrictEqual([...new Set(seqs)].toSorted((a, b) => a - b));
  const facts = seen.filter((event) => !event.kind.endsWith(".output_delta"));
  expect(facts.map((event) => event.eventId)).toStrictEqual((await cluster.inspector.events(sessionId)).map((event) => event.eventId));
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
    await until(`turn ${turn} is seen at the other control plane`, () =>
      other.events.some((event) => event.turnId === turnId && event.kind === "turn.completed"),
    );
    latenciesMs.push(Date.now() - beganMs);
  }
  const head = Number((await cluster.client.session.getSessionSnapshot({ sessionId })).session?.seq);
  for (const follower of followers) {
    await until("the last event is seen", () => Number(follower.events.at(-1)?.seq) === head);
    await follower.stop();
    await expectAll(sessionId, follower.events);
  }
  expect(await cluster.inspector.violations({ id: sessionId, kind: "session" }, true)).toStrictEqual([]);
  // Most of them: a machine that is busy with other things may be late now and then.
  expect(latenciesMs.filter((ms) => ms < PROMPT_MS).length, `latencies: ${latenciesMs.join(", ")} ms`).toBeGreaterThanOrEqual(TURNS * 0.75);
});

it("commands that reach both control planes at once for one stream are decided one after the other", async () => {
  const sessionId = await createSession(cluster.client);
  for (let round = 0; round < 10; round++) {
    // Long enough that it is still under way when the others come.
    const outcomes = await Promise.allSettled(cluster.clients.flatMap((client) => [1, 2].map(() => startTurn(client, sessionId, "count to 1000"))));
    const won = outcomes.filter((outcome) => outcome.status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ detail: { reason: "TURN_ACTIVE" } });
    const turnId = won[0]?.value as string;
    await cluster.clients[round % 2]?.session.cancelTurn({ header: commandHeader(), sessionId, turnId });
    await turnEnded(cluster.client, sessionId, turnId);
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
  await expectAll(sessionId, follower.events);
});
