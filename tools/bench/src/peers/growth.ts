import type pg from "pg";
import { checkRuns } from "../measurements/check-turns.ts";
import { completeRun } from "../measurements/runs.ts";
import type { Row, Section } from "../report/row.ts";
import type { Fleet } from "../server/fleet.ts";
import { spread } from "../statistics.ts";
import { withinTime } from "../within-time.ts";
import { functionRun } from "./forge-peer.ts";
import type { PeerScale } from "./scale.ts";

const SHORT_RUN = 100;
/** Short runs in a row, at most. */
const SHORT_RUNS_MAX = 10;
const RATIO_MAX = 1.2;
const RUN_MS_MAX = 120_000;

const NOTE =
  "Runs of function steps, one run at a time, each step with two small inputs. Processor time is the control plane's and the executor's; statements are what their process sends to PostgreSQL, that by the clock included; " +
  "bytes are what PostgreSQL writes to its log, and what the run's events take in their table.";

interface Cost {
  readonly ms: number;
  readonly cpuUs: number;
  readonly statements: number;
  readonly logBytes: number;
  readonly eventBytes: number;
}

/** Of a step, over runs one after the other. */
async function costOf(pool: pg.Pool, fleet: Fleet, steps: number, runs: number): Promise<Cost> {
  const position = async (): Promise<string> => (await pool.query<{ lsn: string }>("select pg_current_wal_insert_lsn()::text as lsn")).rows[0]?.lsn ?? "";
  // Every page is written whole the first time after a checkpoint: both begin right after one.
  await pool.query("checkpoint");
  const definition = functionRun(steps);
  const runIds: string[] = [];
  const [lsn, before, began] = [await position(), await fleet.writes(), performance.now()];
  for (let index = 0; index < runs; index++) runIds.push(await withinTime(completeRun(fleet.client, definition), RUN_MS_MAX, "a run"));
  const ms = performance.now() - began;
  const after = await fleet.writes();
  const { rows } = await pool.query<{ log: string; events: string }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::pg_lsn)::text as log,
       (select sum(pg_column_size(event.*))::text from forge.event where stream_id = any($2::uuid[])) as events`,
    [lsn, runIds],
  );
  await checkRuns(pool, runIds, steps);
  const count = steps * runs;
  return {
    ms: ms / count,
    cpuUs: (after.cpuUs - before.cpuUs) / count,
    statements: (after.statements - before.statements) / count,
    logBytes: Number(rows[0]?.log) / count,
    eventBytes: Number(rows[0]?.events) / count,
  };
}

export async function measureGrowth(pool: pg.Pool, fleet: Fleet, scale: PeerScale, progress: (text: string) => void): Promise<Section> {
  const shortRuns = Math.min(SHORT_RUNS_MAX, Math.ceil(scale.longRun / SHORT_RUN));
  await costOf(pool, fleet, SHORT_RUN, Math.ceil(shortRuns / 2));
  const short = await costOf(pool, fleet, SHORT_RUN, shortRuns);
  progress(`  a step of ${SHORT_RUN}: ${JSON.stringify(short)}`);
  const long = await costOf(pool, fleet, scale.longRun, 1);
  progress(`  a step of ${scale.longRun}: ${JSON.stringify(long)}`);
  const again = await costOf(pool, fleet, SHORT_RUN, shortRuns);
  progress(`  a step of ${SHORT_RUN}: ${JSON.stringify(again)}`);
  const pair = (name: string, unit: Row["unit"], of: (cost: Cost) => number, hasTarget: boolean): Row[] => {
    const base = spread([of(short), of(again)]);
    const ratio = of(long) / base.median;
    return [
      { name: `a step of ${SHORT_RUN}: ${name}`, unit, value: base },
      {
        name: `a step of ${scale.longRun}: ${name}`,
        unit,
        value: spread([of(long)]),
        ratio: { value: ratio, to: `a step of ${SHORT_RUN}` },
        ...(hasTarget && { target: { text: `at most ${RATIO_MAX}`, isMet: ratio <= RATIO_MAX } }),
      },
    ];
  };
  return {
    title: "A long run",
    note: NOTE,
    rows: [
      ...pair("processor time", "µs", ({ cpuUs }) => cpuUs, true),
      ...pair("statements", "statements", ({ statements }) => statements, true),
      ...pair("log", "bytes", ({ logBytes }) => logBytes, true),
      ...pair("events", "bytes", ({ eventBytes }) => eventBytes, true),
      ...pair("time", "ms", ({ ms }) => ms, false),
    ],
  };
}
