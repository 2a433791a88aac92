import { createPostgresStore } from "@forge/store-postgres";
import { batchedAppends } from "../append/batched.ts";
import { checkAppends } from "../append/check-appends.ts";
import type { BenchDatabase } from "../database.ts";
import { comparedRow, valueRow } from "../report/compare.ts";
import type { Section } from "../report/row.ts";
import type { Fleet } from "../server/fleet.ts";
import { median, quantile, type Round, ratePerSecond } from "../statistics.ts";
import { deadRows } from "./dead-rows.ts";
import type { LoadScale } from "./scale.ts";
import { turnLoad } from "./turn-load.ts";

const IN_FLIGHT = 32;
/** The load is taken in so many parts, of which the first and the last are compared: of ten minutes a minute each. */
const PARTS = 10;
/** A part's sessions are opened in between. */
const ROUND_SECONDS = 10;
const CEILING_SECONDS = 5;
/** Long enough that what is done meanwhile is most of it. */
const MEANWHILE_SECONDS = 3;
const MEANWHILE_ROUNDS = 3;
const LAST_TO_FIRST_MIN = 0.9;

function note({ sustainedSeconds }: LoadScale): string {
  return (
    `${IN_FLIGHT} turns of demo/echo at once for ${sustainedSeconds} seconds, without those in which the next sessions are opened. First and last are a tenth of it each, beside batched appends without the engine on the same ` +
    "database right before and right after. Vacuums are those that PostgreSQL does by itself. Bytes on disk are those by which the database has grown, indexes and what is dead included, for each event of any stream; meanwhile: a CHECKPOINT, or a VACUUM of " +
    `the task table, is begun with a round of ${MEANWHILE_SECONDS} seconds, and the round before has neither.`
  );
}

interface Table {
  readonly vacuums: number;
  readonly dead: number;
  readonly bytes: number;
  readonly events: number;
}

async function tableOf({ pool }: BenchDatabase): Promise<Table> {
  const { rows } = await pool.query<{ vacuums: number; bytes: string; events: number }>(
    `select (select autovacuum_count::int from pg_stat_user_tables where schemaname = 'forge' and relname = 'task') as vacuums,
       pg_database_size(current_database())::text as bytes, (select count(*)::int from forge.event) + (select count(*)::int from forge.delta) as events`,
  );
  const row = rows[0] as (typeof rows)[number];
  return { vacuums: row.vacuums, bytes: Number(row.bytes), events: row.events, dead: await deadRows(pool) };
}

export async function measureSustained(fleet: Fleet, database: BenchDatabase, scale: LoadScale, progress: (text: string) => void): Promise<Section> {
  const { connection, pool } = database;
  await using cleanup = new AsyncDisposableStack();
  const store = await createPostgresStore(connection);
  cleanup.defer(() => store.close());
  const appends = batchedAppends(store);
  const ceiling = async (namespace: string): Promise<number> => {
    const round = await appends.round(namespace, { seconds: CEILING_SECONDS });
    await checkAppends(pool, namespace, round.count, true);
    return ratePerSecond(round);
  };
  const load = async (seconds: number, meanwhile?: string): Promise<Round> => {
    const [round] = (await turnLoad(pool, [fleet], IN_FLIGHT, seconds, async (work) => {
      const [result] = await Promise.all([work(), ...(meanwhile === undefined ? [] : [pool.query(meanwhile)])]);
      return result;
    })) as [Round];
    return round;
  };
  await ceiling("warm-up");
  await load(ROUND_SECONDS);
  const before = await ceiling("before");
  const start = await tableOf(database);
  const partSeconds = scale.sustainedSeconds / PARTS;
  const parts: number[] = [];
  const p99s: number[] = [];
  const dead: number[] = [];
  for (let part = 0; part < PARTS; part++) {
    const rates: number[] = [];
    for (let seconds = 0; seconds < partSeconds; seconds += ROUND_SECONDS) {
      const round = await load(Math.min(ROUND_SECONDS, partSeconds - seconds));
      rates.push(ratePerSecond(round));
      p99s.push(quantile(round.latenciesMs, 0.99));
    }
    parts.push(median(rates));
    dead.push(await deadRows(pool));
    progress(`  part ${part + 1} of ${PARTS}: ${Math.round(parts.at(-1) as number)} turns a second, ${dead.at(-1)} dead rows`);
  }
  const end = await tableOf(database);
  const after = await ceiling("after");
  const meanwhile: Record<"nothing" | "checkpoint" | "vacuum", number[]> = { nothing: [], checkpoint: [], vacuum: [] };
  for (let index = 0; index < MEANWHILE_ROUNDS; index++) {
    for (const [name, statement] of [["nothing"], ["checkpoint", "checkpoint"], ["vacuum", "vacuum forge.task"]] as const)
      meanwhile[name].push(quantile((await load(MEANWHILE_SECONDS, statement)).latenciesMs, 0.99));
  }
  const [first, last] = [parts[0] as number, parts.at(-1) as number];
  const plain = { name: "neither", values: meanwhile.nothing };
  return {
    title: "Sustained load",
    note: note(scale),
    rows: [
      valueRow("batched appends, before and after", "/s", [before, after]),
      valueRow("turns", "/s", parts),
      valueRow("turn: p99", "ms", p99s),
      valueRow("first part: turns beside the ceiling", "ratio", [first / before]),
      comparedRow(
        "last part: turns beside the ceiling",
        "ratio",
        [last / after],
        { name: "the first", values: [first / before] },
        { least: LAST_TO_FIRST_MIN },
      ),
      valueRow("dead rows of the task table", "rows", dead),
      valueRow("vacuums of the task table", "times", [end.vacuums - start.vacuums]),
      valueRow("on disk for an event", "bytes", [(end.bytes - start.bytes) / (end.events - start.events)]),
      valueRow("neither meanwhile: p99", "ms", meanwhile.nothing),
      comparedRow("a CHECKPOINT meanwhile: p99", "ms", meanwhile.checkpoint, plain),
      comparedRow("a VACUUM meanwhile: p99", "ms", meanwhile.vacuum, plain),
    ],
  };
}
