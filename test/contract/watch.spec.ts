import { randomUUID } from "node:crypto";
import { type ConnectClient, commandHeader } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import type { StreamChanged, WatchStreamsResponse } from "@forge/protocol/event";
import { SessionStatus, TurnStatus } from "@forge/protocol/session";
import { RunStatus } from "@forge/protocol/workflow";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { refusalOf } from "../harness/refusal.ts";
import { createSession, PATIENCE_MS, startRun, startTurn, threeSteps, turnEnded } from "../harness/work.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ controlPlanes: 2 });
});
afterAll(() => cluster?.close());

type Watched = WatchStreamsResponse["kind"];

/** Watches until a condition holds for one of the messages. */
async function watchUntil(
  client: ConnectClient,
  request: Parameters<ConnectClient["event"]["watchStreams"]>[0],
  done: (message: Watched) => boolean | Promise<boolean>,
): Promise<readonly Watched[]> {
  const seen: Watched[] = [];
  const stop = AbortSignal.timeout(PATIENCE_MS);
  for await (const { kind } of client.event.watchStreams(request, { signal: stop })) {
    seen.push(kind);
    if (await done(kind)) break;
  }
  return seen;
}

async function killListeners(): Promise<void> {
  const client = new pg.Client({ ...cluster.database.connection });
  await client.connect();
  await client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'forge listener'");
  await client.end();
}

function changedOf(messages: readonly Watched[]): readonly StreamChanged[] {
  return messages.flatMap((message) => (message.case === "changed" ? [message.value] : []));
}

it("tells who watches on any control plane of what changes on any, from ready on", async () => {
  const label = randomUUID();
  const labels = { watch: label };
  const [here, there] = cluster.clients as [ConnectClient, ConnectClient];
  const thereIsReady = Promise.withResolvers<void>();
  let sessionId = "";
  const watchers = cluster.clients.map((client) =>
    watchUntil(client, { labels }, async (message) => {
      // Both watch from before the session on, which is made on one control plane only.
      if (message.case === "ready" && client === there) thereIsReady.resolve();
      if (message.case === "ready" && client === here && sessionId === "") {
        await thereIsReady.promise;
        const created = await there.session.createSession({ header: commandHeader(), labels, title: "watched", agent: { model: "demo/chat" } });
        sessionId = created.sessionId;
        await turnEnded(there, sessionId, await startTurn(there, sessionId, "hello"));
        await there.session.closeSession({ header: commandHeader(), sessionId });
      }
      const { value } = message.case === "changed" ? message.value.summary : { value: undefined };
      return value?.status === SessionStatus.CLOSED;
    }),
  );
  const [seenHere = [], seenThere = []] = await Promise.all(watchers);
  for (const seen of [seenHere, seenThere]) {
    expect(seen[0]?.case).toBe("ready");
    const changes = changedOf(seen);
    expect(new Set(changes.map(({ stream }) => stream?.id))).toStrictEqual(new Set([sessionId]));
    const last = changes.at(-1)?.summary.value;
    const { sessions } = await here.session.listSessions({ labels });
    expect(last).toStrictEqual(sessions[0]);
    expect(last).toMatchObject({ title: "watched", turnStatus: TurnStatus.COMPLETED });
  }
});

it("tells of runs and sessions apart where a kind is asked for, and never what nobody asked for", async () => {
  const [here, there] = cluster.clients as [ConnectClient, ConnectClient];
  let runId = "";
  const seen = await watchUntil(here, { kind: StreamKind.RUN }, async (message) => {
    if (message.case === "ready" && runId === "") {
      await createSession(there);
      runId = await startRun(there, threeSteps());
    }
    if (message.case !== "changed" || message.value.stream?.id !== runId) return false;
    return message.value.summary.case === "run" && message.value.summary.value.status === RunStatus.COMPLETED;
  });
  expect(changedOf(seen).every(({ stream, summary }) => stream?.kind === StreamKind.RUN && summary.case === "run")).toBe(true);
  expect(await refusalOf(watchUntil(here, { kind: 9 as StreamKind }, () => true))).toBe("VALIDATION");
  const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`k${index}`, ""]));
  expect(await refusalOf(watchUntil(here, { labels: many }, () => true))).toBe("VALIDATION");
});

it("is told to list anew when the wake-up connection was lost, and misses nothing after it", async () => {
  const [here, there] = cluster.clients as [ConnectClient, ConnectClient];
  let readies = 0;
  let sessionId = "";
  await watchUntil(here, { kind: StreamKind.SESSION }, async (message) => {
    if (message.case === "ready") {
      readies++;
      if (readies === 1) await killListeners();
      else if (sessionId === "") sessionId = await createSession(there);
    }
    return message.case === "changed" && message.value.stream?.id === sessionId;
  });
  expect(readies).toBeGreaterThanOrEqual(2);
});
