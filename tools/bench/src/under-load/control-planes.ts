import { openDatabase } from "../database.ts";
import { comparedRow, valueRow } from "../report/compare.ts";
import type { Row, Section } from "../report/row.ts";
import { startFleet } from "../server/fleet.ts";
import { ratePerSecond } from "../statistics.ts";
import { alternate } from "./alternate.ts";
import type { LoadScale } from "./scale.ts";
import { turnLoad } from "./turn-load.ts";
import { type Used, usedBy } from "./usage.ts";

const COUNTS = [1, 2, 4] as const;
const IN_FLIGHT = 32;

const NOTE =
  `${IN_FLIGHT} turns of demo/echo at once in all, shared among the control planes of one PostgreSQL, each with an executor in its process; one, two and four have a database each and take turns. A client stays with its control plane, ` +
  "as clients prefer a stream's own. Everything shares the same cores: what more control planes do beyond one is not speed-up but efficiency, the rate beside that of one, and what a turn costs.";

interface Taken {
  readonly rate: number;
  readonly serverCpuUs: number;
  readonly databaseCpuUs: number;
  readonly statements: number;
}

/** So many control planes on a database of their own; returns their round. */
async function open(stack: AsyncDisposableStack, count: number, seconds: number): Promise<() => Promise<Taken>> {
  const database = await openDatabase(2);
  stack.defer(() => database.close());
  const fleets = await Promise.all(
    Array.from({ length: count }, async () => {
      const fleet = await startFleet(database.connection, "inside");
      stack.defer(() => fleet.close());
      return fleet;
    }),
  );
  return async () => {
    let used: Used | undefined;
    const rounds = await turnLoad(database.pool, fleets, IN_FLIGHT, seconds, async (work) => {
      const measured = await usedBy(database.pool, fleets, work);
      used = measured.used;
      return measured.result;
    });
    const turns = rounds.reduce((sum, round) => sum + round.count, 0);
    const { serverCpuUs, databaseCpuUs, statements } = used as Used;
    return {
      rate: rounds.reduce((sum, round) => sum + ratePerSecond(round), 0),
      serverCpuUs: serverCpuUs / turns,
      databaseCpuUs: databaseCpuUs / turns,
      statements: statements / turns,
    };
  };
}

export async function measureControlPlanes(scale: LoadScale, progress: (text: string) => void): Promise<Section> {
  await using cleanup = new AsyncDisposableStack();
  const rounds: Record<string, () => Promise<Taken>> = {};
  for (const count of COUNTS) rounds[`${count}`] = await open(cleanup, count, scale.seconds);
  const taken = await alternate(scale.rounds, rounds, progress);
  const compared = (name: string, unit: Row["unit"], of: (one: Taken) => number): Row[] =>
    COUNTS.map((count) => {
      const values = (taken[`${count}`] ?? []).map(of);
      const title = `${count === 1 ? "one control plane" : `${count} control planes`}: ${name}`;
      return count === 1 ? valueRow(title, unit, values) : comparedRow(title, unit, values, { name: "one", values: (taken["1"] ?? []).map(of) });
    });
  return {
    title: "Several control planes on one PostgreSQL",
    note: NOTE,
    rows: [
      ...compared("turns", "/s", ({ rate }) => rate),
      ...compared("control planes' processor time of a turn", "µs", ({ serverCpuUs }) => serverCpuUs),
      ...compared("database's processor time of a turn", "µs", ({ databaseCpuUs }) => databaseCpuUs),
      ...compared("statements of a turn", "statements", ({ statements }) => statements),
    ],
  };
}
