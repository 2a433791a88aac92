import type { ScheduleToSave, StoredSchedule } from "@forge/engine/ports";
import { sql } from "kysely";
import type { Database } from "../database.ts";
import { COLUMNS, type ScheduleRow, toSchedule } from "./schedule-row.ts";

const PAGE_MAX = 500;

/** Creates or replaces, in one statement with the references that keep the run's artifacts. */
export async function saveSchedule(database: Database, namespace: string, schedule: ScheduleToSave): Promise<StoredSchedule | undefined> {
  const { scheduleId, spec, run, workflowId, workflowVersion, paused, note, updatedBy, begins, expectedVersion, artifacts, referenceId } = schedule;
  const saved =
    expectedVersion === 0
      ? sql`
      insert into forge.schedule (ns, schedule_id, revision, version, spec, run, workflow_id, workflow_version, paused, note, taken_through, look_at, updated_by)
      values (${namespace}, ${scheduleId}, 1, 1, ${spec}::bytea, ${run}::bytea, ${workflowId}, ${workflowVersion}, ${paused}::boolean, ${note},
        date_trunc('milliseconds', now()), case when ${paused}::boolean then null else now() end, ${updatedBy})
      on conflict do nothing returning *`
      : sql`
      update forge.schedule set revision = revision + 1, version = version + 1, spec = ${spec}::bytea, run = ${run}::bytea, workflow_id = ${workflowId},
        workflow_version = ${workflowVersion}, note = ${note}, updated_by = ${updatedBy}, updated_at = date_trunc('milliseconds', now()),
        taken_through = case when ${begins}::boolean then greatest(taken_through, date_trunc('milliseconds', now())) else taken_through end,
        look_at = case when paused then null else now() end
      where ns = ${namespace} and schedule_id = ${scheduleId} and version = ${expectedVersion}::bigint returning *`;
  const [row] = await database.run<ScheduleRow>(
    undefined,
    sql`
    with saved as (${saved}), unreferred as (
      delete from forge.artifact_reference r using saved where r.ns = saved.ns and r.stream_id = ${referenceId}::uuid and r.sha256 <> all(${artifacts}::text[])
    ), referred as (
      insert into forge.artifact_reference (ns, stream_id, sha256)
      select distinct saved.ns, ${referenceId}::uuid, a.sha256 from saved, unnest(${artifacts}::text[]) as a(sha256) on conflict do nothing
    )
    select ${COLUMNS} from saved`,
  );
  return row === undefined ? undefined : toSchedule(row);
}

export async function findSchedule(database: Database, namespace: string, scheduleId: string): Promise<StoredSchedule | undefined> {
  const [row] = await database.run<ScheduleRow>(
    "forge_find_schedule",
    sql`select ${COLUMNS} from forge.schedule where ns = ${namespace} and schedule_id = ${scheduleId}`,
  );
  return row === undefined ? undefined : toSchedule(row);
}

export async function findScheduleRun(database: Database, namespace: string, scheduleId: string): Promise<Uint8Array | undefined> {
  const [row] = await database.run<{ run: Uint8Array }>(
    "forge_find_schedule_run",
    sql`select run from forge.schedule where ns = ${namespace} and schedule_id = ${scheduleId}`,
  );
  return row?.run;
}

export async function listSchedules(
  database: Database,
  namespace: string,
  page: { readonly limit: number; readonly afterId?: string },
): Promise<readonly StoredSchedule[]> {
  const rows = await database.run<ScheduleRow>(
    undefined,
    sql`
    select ${COLUMNS} from forge.schedule where ns = ${namespace} and schedule_id > ${page.afterId ?? ""}
    order by schedule_id limit ${Math.min(Math.max(page.limit, 1), PAGE_MAX)}::int`,
  );
  return rows.map(toSchedule);
}

export async function removeSchedule(database: Database, namespace: string, scheduleId: string, referenceId: string): Promise<boolean> {
  const rows = await database.run<{ scheduleId: string }>(
    undefined,
    sql`
    with gone as (
      delete from forge.schedule where ns = ${namespace} and schedule_id = ${scheduleId} returning ns, schedule_id
    ), times as (
      delete from forge.schedule_time t using gone where t.ns = gone.ns and t.schedule_id = gone.schedule_id
    ), unreferred as (
      delete from forge.artifact_reference r using gone where r.ns = gone.ns and r.stream_id = ${referenceId}::uuid
    )
    select schedule_id as "scheduleId" from gone`,
  );
  // What was recorded while the first statement waited for its row is not in that statement's sight.
  await database.run(
    undefined,
    sql`
    delete from forge.schedule_time t where ns = ${namespace} and schedule_id = ${scheduleId}
      and not exists (select from forge.schedule s where s.ns = t.ns and s.schedule_id = t.schedule_id)`,
  );
  return rows.length > 0;
}

/** What is so already stays as it is, its version included. */
export async function pauseSchedule(
  database: Database,
  namespace: string,
  scheduleId: string,
  change: { readonly paused: boolean; readonly note: string | undefined; readonly updatedBy: string; readonly error: Uint8Array },
): Promise<StoredSchedule | undefined> {
  const { paused, updatedBy, error } = change;
  const note = change.note ?? null;
  const [row] = await database.run<ScheduleRow>(
    undefined,
    sql`
    with changed as (
      update forge.schedule set paused = ${paused}::boolean, note = coalesce(${note}::text, note), revision = revision + 1, version = version + 1, updated_by = ${updatedBy},
        updated_at = date_trunc('milliseconds', now()), buffered_at = case when ${paused}::boolean then null else buffered_at end,
        taken_through = case when paused and not ${paused}::boolean then greatest(taken_through, date_trunc('milliseconds', now())) else taken_through end,
        look_at = case when ${paused}::boolean then null when paused then now() else look_at end
      where ns = ${namespace} and schedule_id = ${scheduleId} and (paused <> ${paused}::boolean or note <> coalesce(${note}::text, note)) returning *
    ), given_up as (
      update forge.schedule_time t set outcome = 'SKIPPED', error = ${error}::bytea, decided_at = date_trunc('milliseconds', now())
      from changed where changed.paused and t.ns = changed.ns and t.schedule_id = changed.schedule_id and t.outcome = 'BUFFERED'
    )
    select ${COLUMNS} from changed`,
  );
  return row === undefined ? await findSchedule(database, namespace, scheduleId) : toSchedule(row);
}
