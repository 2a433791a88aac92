import { toBinary } from "@bufbuild/protobuf";
import { GetSessionSnapshotResponseSchema } from "@forge/protocol/session";
import type { PostgresConnection } from "@forge/store-postgres";
import type pg from "pg";
import { measure } from "../load.ts";
import { comparedRow, valueRow } from "../report/compare.ts";
import type { Row } from "../report/row.ts";
import { quantile } from "../statistics.ts";
import { alternate } from "./alternate.ts";
import { openLocal } from "./local-control-plane.ts";
import type { LoadScale } from "./scale.ts";
import { checkWrites, followSession, openSessions, writeMany } from "./subject.ts";

const SHORT = 100;
const LOADS = 200;
const RATIO_MAX = 1.5;

/**
 * Two sessions with the same state, one behind many events. A control plane that keeps one stream in memory loads each time that it is asked for the other, which is what it does
 * for a stream's first command after a start.
 */
export async function longStreamRows(connection: PostgresConnection, pool: pg.Pool, scale: LoadScale, progress: (text: string) => void): Promise<Row[]> {
  await using cleanup = new AsyncDisposableStack();
  const client = await openLocal(cleanup, connection, 1);
  const [short, long, other] = (await openSessions(client, 3)) as [string, string, string];
  for (const id of [short, other]) await writeMany(client, id, SHORT - 1);
  await writeMany(client, long, scale.longStream - 1);
  await checkWrites(pool, [short, long, other], 2 * (SHORT - 1) + scale.longStream - 1);
  progress(`  a stream of ${scale.longStream} events`);
  const snapshot = async (sessionId: string) => await client.session.getSessionSnapshot({ sessionId });
  const sizes = await Promise.all([short, long].map(async (id) => toBinary(GetSessionSnapshotResponseSchema, await snapshot(id)).length));
  if (Math.abs((sizes[0] as number) - (sizes[1] as number)) > 8) throw new Error(`the states are not equal: their snapshots have ${sizes.join(" and ")} bytes`);
  const loads = (sessionId: string) => async () => {
    const ms: number[] = [];
    const seq = Number((await snapshot(sessionId)).session?.seq);
    for (let index = 0; index < LOADS; index++) {
      // Puts the measured one out of memory.
      await snapshot(other);
      const began = performance.now();
      await snapshot(sessionId);
      ms.push(performance.now() - began);
    }
    const opens = await measure(1, { seconds: 60, countMax: LOADS }, async () => {
      const follower = followSession(client, sessionId, () => undefined, seq);
      await follower.caughtUp;
      follower.close();
    });
    return {
      loadMs: quantile(
        ms.toSorted((a, b) => a - b),
        0.5,
      ),
      openMs: quantile(opens.latenciesMs, 0.5),
    };
  };
  const taken = await alternate(scale.rounds, { short: loads(short), long: loads(long) }, progress);
  const compared = (name: string, of: (one: { readonly loadMs: number; readonly openMs: number }) => number): Row[] => [
    valueRow(`${SHORT} events: ${name}`, "ms", taken.short.map(of)),
    comparedRow(`${scale.longStream} events: ${name}`, "ms", taken.long.map(of), { name: `${SHORT} events`, values: taken.short.map(of) }, { most: RATIO_MAX }),
  ];
  return [...compared("load of the state, p50", ({ loadMs }) => loadMs), ...compared("subscription at the head, p50", ({ openMs }) => openMs)];
}
