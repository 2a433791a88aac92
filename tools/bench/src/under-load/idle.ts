import { setTimeout as delay } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { createConnectClient } from "@forge/client";
import { CapabilityKind, CapabilitySchema } from "@forge/protocol/worker";
import { startWorker, type TaskHandler } from "@forge/worker";
import type pg from "pg";
import { valueRow } from "../report/compare.ts";
import type { Row, Section } from "../report/row.ts";
import type { Fleet } from "../server/fleet.ts";
import type { LoadScale } from "./scale.ts";
import { followSession, openSessions } from "./subject.ts";
import { type Used, usedBy } from "./usage.ts";

/** Workers that join at once. */
const JOIN_MAX = 50;
const SETTLE_MS = 5_000;

function note(scale: LoadScale): string {
  return (
    `${scale.workers} workers, each on a connection of its own, and ${scale.subscribers} subscriptions of as many sessions, in which nothing happens; ${scale.idleSeconds} seconds each, before they come and while they are there. ` +
    "What is used before is the clock's: leases that may have expired, timers, other control planes. Processor time is that of the control plane's process and of all processes of PostgreSQL."
  );
}

/** Joins workers that serve nothing anybody asks for; the stack ends them. */
async function joinWorkers(fleet: Fleet, count: number, stack: AsyncDisposableStack): Promise<void> {
  for (let begun = 0; begun < count; begun += JOIN_MAX) {
    await Promise.all(
      Array.from({ length: Math.min(JOIN_MAX, count - begun) }, async (_, index) => {
        const port = createConnectClient({ url: fleet.url, token: fleet.workerToken });
        const name = `idle-${begun + index}`;
        const handler: TaskHandler = {
          capability: create(CapabilitySchema, { kind: CapabilityKind.FUNCTION, name: `bench.${name}` }),
          run: () => Promise.reject(new Error("nothing is to be done")),
        };
        const worker = await startWorker({
          port,
          name,
          queues: ["default"],
          handlers: [handler],
          slots: 1,
          onProblem: (error) => {
            throw error;
          },
        });
        stack.defer(() => port.close());
        stack.defer(() => worker.stop());
      }),
    );
  }
}

async function checkWorkers(pool: pg.Pool, expected: number): Promise<void> {
  const { rows } = await pool.query<{ count: number }>("select count(*)::int as count from forge.worker where alive_until > now() and name like 'idle-%'");
  if (rows[0]?.count !== expected) throw new Error(`${expected} workers joined, and the database holds ${rows[0]?.count} that live`);
}

export async function measureIdle(fleet: Fleet, pool: pg.Pool, scale: LoadScale, progress: (text: string) => void): Promise<Section> {
  const idle = async (): Promise<Used> => {
    await delay(SETTLE_MS);
    return (await usedBy(pool, [fleet], () => delay(scale.idleSeconds * 1000))).used;
  };
  const sessions = await openSessions(fleet.client, scale.subscribers);
  const before = await idle();
  progress(`  nobody there: ${JSON.stringify(before)}`);
  await using cleanup = new AsyncDisposableStack();
  await joinWorkers(fleet, scale.workers, cleanup);
  const followers = sessions.map((id) => followSession(fleet.client, id, () => undefined));
  cleanup.defer(() => {
    for (const follower of followers) follower.close();
  });
  await Promise.all(followers.map(({ caughtUp }) => caughtUp));
  const during = await idle();
  progress(`  all there: ${JSON.stringify(during)}`);
  await checkWorkers(pool, scale.workers);
  const pair = (name: string, unit: Row["unit"], of: (used: Used) => number): Row[] => [
    valueRow(`nobody there: ${name}`, unit, [of(before)]),
    valueRow(`all there: ${name}`, unit, [of(during)]),
  ];
  const corePercent = (cpuUs: number, { seconds }: Used): number => cpuUs / (seconds * 10_000);
  return {
    title: "Nothing to do",
    note: note(scale),
    rows: [
      ...pair("control plane", "% of a core", (used) => corePercent(used.serverCpuUs, used)),
      ...pair("database", "% of a core", (used) => corePercent(used.databaseCpuUs, used)),
      ...pair("statements", "/s", ({ statements, seconds }) => statements / seconds),
      ...pair("log, in a second", "bytes", ({ logBytes, seconds }) => logBytes / seconds),
    ],
  };
}
