import type { ForgeClient } from "@forge/client";
import { RunStatus } from "@forge/protocol/workflow";
import type pg from "pg";
import { COPY_KINDS, copyStream } from "../copy-streams.ts";
import type { BenchDatabase } from "../database.ts";
import { completeRun } from "../measurements/runs.ts";
import type { Row, Section } from "../report/row.ts";
import type { Fleet } from "../server/fleet.ts";
import { ratePerSecond, spread } from "../statistics.ts";
import { functionRun } from "./forge-peer.ts";
import type { Peer } from "./peer.ts";
import { numberRow, ratioRow, takeRounds } from "./rounds.ts";
import type { PeerScale } from "./scale.ts";

const STEPS = 10;
const IN_FLIGHT = 32;
const PAGE = 50;
const LEAST = 0.9;
/** What is left for measuring. */
const AFTER_SEEDING_MS = 70_000;

const NOTE =
  "Two databases, each with a control plane of its own, that take turns; one of them holds copies of a finished run of one step, made in it by statements: its stream, events, command, snapshot and list entry. The rows of a " +
  `listing are those that its statement reads in its tables, as EXPLAIN counts them, for a page of ${PAGE} runs, on the newest page; the control plane reads one row more than it shows.`;

interface Plan {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Relation Name"?: string;
  readonly Plans?: readonly Plan[];
}

/** Rows that a plan reads in each table. */
function addRowsRead(plan: Plan, read: Map<string, number>): Map<string, number> {
  const passed = plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0) + (plan["Rows Removed by Index Recheck"] ?? 0);
  const table = plan["Relation Name"];
  if (table !== undefined) read.set(table, (read.get(table) ?? 0) + passed * plan["Actual Loops"]);
  for (const part of plan.Plans ?? []) addRowsRead(part, read);
  return read;
}

/** Rows that the statement reads which the control plane sent for this listing. */
async function rowsOfListing(pool: pg.Pool, fleet: Fleet, filter: Parameters<ForgeClient["workflow"]["listRuns"]>[0]): Promise<number> {
  const { runs } = await fleet.client.workflow.listRuns({ pageSize: PAGE, ...filter });
  if (runs.length === 0) throw new Error("the listing is empty");
  const { statement } = await fleet.listing();
  if (statement === undefined) throw new Error("the control plane sent no statement for the listing");
  const { rows } = await pool.query<{ "QUERY PLAN": readonly { readonly Plan: Plan }[] }>(`explain (analyze, format json) ${statement.text}`, [
    ...statement.values,
  ]);
  const plan = rows[0]?.["QUERY PLAN"][0]?.Plan;
  if (plan === undefined) throw new Error("there is no plan");
  // A list by label reads each of its rows in two tables.
  return Math.max(...addRowsRead(plan, new Map()).values());
}

/** A control plane and its database. */
export interface Store extends Peer {
  readonly database: BenchDatabase;
  readonly fleet: Fleet;
}

export async function measureFinishedRuns(empty: Peer, seeded: Store, scale: PeerScale, until: number, progress: (text: string) => void): Promise<Section> {
  const { fleet, database } = seeded;
  const runId = await completeRun(fleet.client, functionRun(1));
  const made = await copyStream(database.pool, runId, scale.finishedRuns, until - AFTER_SEEDING_MS, progress);
  const { rows: held } = await database.pool.query<{ count: number }>("select count(*)::int as count from forge.listing where final");
  // The run that was copied is one more.
  if (held[0]?.count !== made + 1) throw new Error(`${made} finished runs were made, and the database holds ${held[0]?.count}`);
  // Before there are newer runs, which these filters would pass over.
  const filters = [
    ["status", { status: RunStatus.COMPLETED }],
    ["workflow", { workflowId: "bench_7" }],
    ["workflow and status", { workflowId: "bench_7", status: RunStatus.COMPLETED }],
    [`label of one in ${COPY_KINDS}`, { labels: { batch: "7" } }],
    ["label of all", { labels: { seeded: "yes" } }],
  ] as const;
  const listings: Row[] = [];
  for (const [name, filter] of filters) {
    const read = await rowsOfListing(database.pool, fleet, filter);
    listings.push({
      name: `listing by ${name}: rows read`,
      unit: "rows",
      value: spread([read]),
      target: { text: `at most ${PAGE + 1}`, isMet: read <= PAGE + 1 },
    });
  }
  const load = { inFlight: IN_FLIGHT, seconds: scale.seconds };
  const stepping = await takeRounds([empty, seeded], { ...load, steps: STEPS }, scale.rounds, until, progress);
  const starting = await takeRounds([empty, seeded], { ...load, steps: 1 }, scale.rounds, until, progress);
  const compare = (what: string, { rounds }: typeof stepping, steps: number): Row[] => {
    const rate = (name: string): number[] => (rounds.get(name) ?? []).map((round) => ratePerSecond(round) * steps);
    return [
      ...[...rounds].map(([name, taken]) => numberRow(`${name}: ${what}`, "/s", taken, (round) => ratePerSecond(round) * steps)),
      ...(rounds.size === 2 ? [ratioRow(`${seeded.name} to ${empty.name}: ${what}`, rate(seeded.name), rate(empty.name), { least: LEAST })] : []),
    ];
  };
  return {
    title: `${made} finished runs in the store`,
    note: [NOTE, ...stepping.failures, ...starting.failures].join(" "),
    rows: [...compare("durable steps", stepping, STEPS), ...compare("runs of one step", starting, 1), ...listings],
  };
}
