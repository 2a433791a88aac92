import type { DueSchedule, ScheduleStep, ScheduleStore, StartingTime, StoredTime, TimeKey } from "@forge/engine/ports";
import { sql } from "kysely";
import type { Database } from "../database.ts";
import { COLUMNS, moment, type ScheduleRow, toSchedule } from "./schedule-row.ts";

const PAGE_MAX = 500;
/** Past times that are kept of each schedule: enough for weeks of an hourly one. */
const KEPT_MAX = 1_000;
/** Older ones are removed with every so many changes: looking for them reads all that are kept. */
const PRUNED_EVERY = 64;

/** `nowMs` is rounded down: a time that is due by it is due by the database's own clock. */
export async function dueSchedules(database: Database, limit: number): ReturnType<ScheduleStore["dueSchedules"]> {
  const rows = await database.run<ScheduleRow & { namespace: string; isStarting: boolean }>(
    "forge_due_schedules",
    sql`
    select s.ns as namespace, exists (
        select from forge.schedule_time t where t.ns = s.ns and t.schedule_id = s.schedule_id and t.outcome = 'STARTING'
      ) as "isStarting", ${COLUMNS}
    from forge.schedule s where look_at <= now() order by look_at limit ${Math.min(Math.max(limit, 1), PAGE_MAX)}::int`,
  );
  const [clock] = await database.run<{ nowMs: number; nextInMs: number | null }>(
    "forge_next_schedule",
    sql`
    select floor(extract(epoch from now()) * 1000)::float8 as "nowMs",
      (select extract(epoch from min(look_at) - now()) * 1000 from forge.schedule where look_at > now())::float8 as "nextInMs"`,
  );
  const { nowMs, nextInMs } = clock as { nowMs: number; nextInMs: number | null };
  return { nowMs, nextInMs: nextInMs ?? undefined, schedules: rows.map((row): DueSchedule => toSchedule(row)) };
}

export async function recordTimes(database: Database, namespace: string, scheduleId: string, step: ScheduleStep): Promise<boolean> {
  const times = step.times.map(({ atMs, commandId, outcome, runId, error, count }) => ({
    at: new Date(atMs).toISOString(),
    commandId,
    outcome,
    runId: runId ?? null,
    error: error === undefined ? null : Buffer.from(error).toString("hex"),
    count,
  }));
  const rows = await database.run<{ version: number }>(
    "forge_record_times",
    sql`
    with moved as (
      update forge.schedule set version = version + 1, taken_through = greatest(taken_through, ${moment(step.takenThroughMs)}), look_at = ${moment(step.lookAtMs)},
        buffered_at = ${moment(step.bufferedMs)}
      where ns = ${namespace} and schedule_id = ${scheduleId} and version = ${step.version}::bigint and not paused
      returning ns, schedule_id, version
    ), taken as (
      insert into forge.schedule_time (ns, schedule_id, at, command_id, outcome, run_id, error, count)
      select moved.ns, moved.schedule_id, t.at, t."commandId", t.outcome, t."runId", decode(t.error, 'hex'), t.count
      from moved, json_to_recordset(${JSON.stringify(times)}::json)
        as t(at timestamptz, "commandId" text, outcome text, "runId" uuid, error text, count int)
      on conflict (ns, schedule_id, at, command_id) do update set outcome = excluded.outcome, run_id = excluded.run_id, error = excluded.error, decided_at = excluded.decided_at
    ), pruned as (
      delete from forge.schedule_time t using moved
      where moved.version % ${PRUNED_EVERY}::int = 0 and t.ns = moved.ns and t.schedule_id = moved.schedule_id and t.outcome not in ('STARTING', 'BUFFERED')
        and t.at < (
          select k.at from forge.schedule_time k where k.ns = moved.ns and k.schedule_id = moved.schedule_id
          order by k.at desc, k.command_id desc offset ${KEPT_MAX}::int limit 1
        )
    )
    select version from moved`,
  );
  return rows.length > 0;
}

export async function deferSchedule(database: Database, namespace: string, scheduleId: string, version: number, ms: number): Promise<void> {
  await database.run(
    undefined,
    sql`
    update forge.schedule set look_at = now() + ${ms}::float8 * interval '1 millisecond'
    where ns = ${namespace} and schedule_id = ${scheduleId} and version = ${version}::bigint and look_at is not null`,
  );
}

export async function startingTimes(database: Database, olderThanMs: number, limit: number): Promise<readonly StartingTime[]> {
  return await database.run<StartingTime>(
    "forge_starting_times",
    sql`
    select ns as namespace, schedule_id as "scheduleId", (extract(epoch from at) * 1000)::float8 as "atMs", command_id as "commandId",
      (extract(epoch from now() - decided_at) * 1000)::float8 as "ageMs"
    from forge.schedule_time where outcome = 'STARTING' and decided_at <= now() - ${olderThanMs}::float8 * interval '1 millisecond'
    order by decided_at limit ${Math.min(Math.max(limit, 1), PAGE_MAX)}::int`,
  );
}

export async function finishTime(database: Database, namespace: string, scheduleId: string, time: Parameters<ScheduleStore["finishTime"]>[2]): Promise<void> {
  const key = sql`ns = ${namespace} and schedule_id = ${scheduleId} and at = ${moment(time.atMs)} and command_id = ${time.commandId}`;
  if (time.outcome === "FAILED") {
    await database.run(
      undefined,
      sql`update forge.schedule_time set outcome = 'FAILED', error = ${time.error}::bytea, decided_at = date_trunc('milliseconds', now()) where ${key} and outcome = 'STARTING'`,
    );
    return;
  }
  await database.run(
    undefined,
    sql`
    with finished as (
      update forge.schedule_time set outcome = 'STARTED', run_id = ${time.runId}::uuid, error = null, decided_at = date_trunc('milliseconds', now())
      where ${key} and outcome in ('STARTING', 'FAILED') returning ns, schedule_id, at, run_id
    )
    update forge.schedule s set last_run_id = f.run_id, last_run_at = f.at from finished f
    where s.ns = f.ns and s.schedule_id = f.schedule_id and (s.last_run_at is null or s.last_run_at <= f.at)`,
  );
}

export async function recordTrigger(
  database: Database,
  namespace: string,
  scheduleId: string,
  { commandId, runId }: { readonly commandId: string; readonly runId: string },
): Promise<void> {
  await database.run(
    undefined,
    sql`
    with started as (
      insert into forge.schedule_time (ns, schedule_id, at, command_id, outcome, run_id)
      select ns, schedule_id, date_trunc('milliseconds', now()), ${commandId}, 'STARTED', ${runId}::uuid from forge.schedule
      where ns = ${namespace} and schedule_id = ${scheduleId}
      on conflict do nothing returning ns, schedule_id, at, run_id
    )
    update forge.schedule s set version = version + 1, last_run_id = f.run_id, last_run_at = f.at from started f
    where s.ns = f.ns and s.schedule_id = f.schedule_id and (s.last_run_at is null or s.last_run_at <= f.at)`,
  );
}

type TimeRow = Omit<StoredTime, "atMs" | "runId" | "error" | "decidedAtMs"> & {
  readonly at: Date;
  readonly runId: string | null;
  readonly error: Uint8Array | null;
  readonly decidedAt: Date;
};

export async function listTimes(
  database: Database,
  namespace: string,
  scheduleId: string,
  page: { readonly limit: number; readonly before?: TimeKey },
): Promise<readonly StoredTime[]> {
  const conditions = [sql`ns = ${namespace}`, sql`schedule_id = ${scheduleId}`];
  if (page.before !== undefined) conditions.push(sql`(at, command_id) < (${moment(page.before.atMs)}, ${page.before.commandId})`);
  const rows = await database.run<TimeRow>(
    undefined,
    sql`
    select at, command_id as "commandId", outcome, run_id as "runId", error, count, decided_at as "decidedAt" from forge.schedule_time
    where ${sql.join(conditions, sql` and `)} order by at desc, command_id desc limit ${Math.min(Math.max(page.limit, 1), PAGE_MAX)}::int`,
  );
  return rows.map(({ at, runId, error, decidedAt, ...row }) => ({
    ...row,
    atMs: at.getTime(),
    runId: runId ?? undefined,
    error: error ?? undefined,
    decidedAtMs: decidedAt.getTime(),
  }));
}
