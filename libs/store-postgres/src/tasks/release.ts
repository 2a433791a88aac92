import { setTimeout as delay } from "node:timers/promises";
import type { StoredTask } from "@forge/engine/ports";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database.ts";
import { NEXT_LEASE, NO_LEASE, storedTask, TASK_COLUMNS, type TaskRow } from "./task-row.ts";

/** Who holds a started task whose lease was lost, until its stream has decided. */
export const REAPER = "reaper";
/** How long a decision may take before the task is reported again: far longer than an append, short enough that a replica's death is soon made good. */
export const REAPER_TTL_MS = 15_000;

/** Rows that an append holds are free again after its commit, some milliseconds later. */
const RELEASE_ATTEMPTS_MAX = 50;
const RELEASE_PAUSE_MS = 10;

export interface Released {
  readonly started: readonly StoredTask[];
  readonly routes: readonly { namespace: string; route: string }[];
}

/**
 * Takes leases away. An unstarted task is unowned again. A started one goes to the reaper with the next epoch, so that the old proof is fenced, and is returned: its stream
 * must decide. Should whoever got it die before, this lease ends as well and the task is reported once more.
 */
export function takeAway(lost: RawBuilder<unknown>): RawBuilder<TaskRow> {
  return sql<TaskRow>`
    with lost as materialized (${lost}),
    unowned as (
      update forge.task t set ${NO_LEASE} from lost
      where not t.started and t.ns = lost.ns and t.stream_id = lost.stream_id and t.task_key = lost.task_key returning ${TASK_COLUMNS}
    ),
    reaped as (
      update forge.task t set owner = ${REAPER}, ${NEXT_LEASE}, lease_until = now() + ${REAPER_TTL_MS}::float8 * interval '1 millisecond' from lost
      where t.started and t.ns = lost.ns and t.stream_id = lost.stream_id and t.task_key = lost.task_key returning ${TASK_COLUMNS}
    )
    select * from unowned union all select * from reaped`;
}

export function released(rows: readonly TaskRow[]): Released {
  const routes = new Map<string, { namespace: string; route: string }>();
  for (const row of rows) {
    if (row.owner === null && !row.cancel_requested) routes.set(JSON.stringify([row.ns, row.route]), { namespace: row.ns, route: row.route });
  }
  return { started: rows.filter((row) => row.owner !== null).map(storedTask), routes: [...routes.values()] };
}

/** Takes all leases of these owners away. What an append holds at the moment is tried again for half a second; after that the lease's own time ends it. */
export async function releaseOwners(database: Database, owners: readonly string[]): Promise<Released> {
  const rows: TaskRow[] = [];
  for (let attempt = 1; attempt <= RELEASE_ATTEMPTS_MAX && owners.length > 0; attempt++) {
    rows.push(
      ...(await database.run(
        "forge_release",
        takeAway(sql`select t.ns, t.stream_id, t.task_key from forge.task t where t.owner = any(${[...owners]}::text[]) for update skip locked`),
      )),
    );
    const [held] = await database.run<{ exists: boolean }>(
      "forge_release_rest",
      sql`select exists (select from forge.task where owner = any(${[...owners]}::text[])) as exists`,
    );
    if (!held?.exists) break;
    await delay(RELEASE_PAUSE_MS);
  }
  return released(rows);
}

/** Takes leases away whose time has passed, at most limit. */
export async function expireLeases(database: Database, limit: number, except: readonly string[] = []): Promise<Released> {
  const expired = sql`
    select t.ns, t.stream_id, t.task_key from forge.task t where t.owner is not null and t.lease_until <= now() and t.stream_id <> all(${[...except]}::uuid[]) limit ${limit}::int for update skip locked`;
  return released(await database.run("forge_expire", takeAway(expired)));
}
