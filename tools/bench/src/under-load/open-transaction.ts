import type { BenchDatabase } from "../database.ts";
import { comparedRow, valueRow } from "../report/compare.ts";
import type { Row, Section } from "../report/row.ts";
import type { Fleet } from "../server/fleet.ts";
import { quantile, type Round, ratePerSecond } from "../statistics.ts";
import { alternate } from "./alternate.ts";
import { deadRows } from "./dead-rows.ts";
import type { LoadScale } from "./scale.ts";
import { turnLoad } from "./turn-load.ts";

/** More than the executor has slots for, so that most tasks wait and are leased, by the statement that looks for them among all others. */
const IN_FLIGHT = 128;
const SLOWER_MAX = 2;

const NOTE =
  `${IN_FLIGHT} turns of demo/echo at once, of which the executor has slots for 64: the others wait and are leased. Held open: a transaction that has taken its snapshot before the load, as a dump does, so that nothing that ` +
  "becomes dead is removed until it ends. The task table is vacuumed between rounds. Slower is the time that a turn takes, from its start to its end at a subscriber.";

interface Taken {
  readonly round: Round;
  readonly dead: number;
}

async function turns(fleet: Fleet, { pool }: BenchDatabase, seconds: number): Promise<Taken> {
  const [round] = (await turnLoad(pool, [fleet], IN_FLIGHT, seconds)) as [Round];
  return { round, dead: await deadRows(pool) };
}

/** Opens a transaction that sees the database as it is now until the work is done. */
async function whileOpen<T>({ pool }: BenchDatabase, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin isolation level repeatable read, read only");
    await client.query("select count(*) from forge.task");
    return await work();
  } finally {
    await client.query("rollback");
    client.release();
  }
}

export async function measureOpenTransaction(fleet: Fleet, database: BenchDatabase, scale: LoadScale, progress: (text: string) => void): Promise<Section> {
  const seconds = scale.seconds * 2;
  const vacuumed = async <T>(work: () => Promise<T>): Promise<T> => {
    await database.pool.query("vacuum forge.task");
    return await work();
  };
  const taken = await alternate(
    scale.rounds,
    {
      without: () => vacuumed(() => turns(fleet, database, seconds)),
      held: () => vacuumed(() => whileOpen(database, () => turns(fleet, database, seconds))),
    },
    progress,
  );
  const compared = (name: string, unit: Row["unit"], of: (one: Taken) => number, bound?: { readonly most: number }): Row[] => [
    valueRow(`without: ${name}`, unit, taken.without.map(of)),
    comparedRow(`held open: ${name}`, unit, taken.held.map(of), { name: "without", values: taken.without.map(of) }, bound),
  ];
  return {
    title: "While a transaction elsewhere is held open",
    note: NOTE,
    rows: [
      ...compared("turn: p50", "ms", ({ round }) => quantile(round.latenciesMs, 0.5), { most: SLOWER_MAX }),
      ...compared("turn: p99", "ms", ({ round }) => quantile(round.latenciesMs, 0.99), { most: SLOWER_MAX }),
      ...compared("turns", "/s", ({ round }) => ratePerSecond(round)),
      ...compared("dead rows of the task table at the end", "rows", ({ dead }) => dead),
    ],
  };
}
