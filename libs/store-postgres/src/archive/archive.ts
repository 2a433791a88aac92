import type { ArchivedStream, EndedRun, EndedRunsPage } from "@forge/engine/ports";
import { isUuid } from "@forge/protocol";
import { sql } from "kysely";
import type { Database } from "../database.ts";

const PAGE_MAX = 500;

/** Oldest end first. What has been archived is in the index no more, so that a page costs what is in it however much was archived before. */
export async function endedRuns(database: Database, page: EndedRunsPage): Promise<readonly EndedRun[]> {
  const { after } = page;
  if (after !== undefined && !isUuid(after.streamId)) return [];
  const conditions = [sql`kind = 'run' and final and not archived`, sql`updated_at <= now() - ${page.olderThanMs}::float8 * interval '1 millisecond'`];
  if (page.namespace !== undefined) conditions.push(sql`ns = ${page.namespace}`);
  if (after !== undefined) {
    conditions.push(sql`(updated_at, ns, stream_id) > (to_timestamp(${after.endedAtMs}::float8 / 1000), ${after.namespace}, ${after.streamId}::uuid)`);
  }
  const rows = await database.run<{ namespace: string; streamId: string; endedAt: Date }>(
    undefined,
    sql`
    select ns as namespace, stream_id as "streamId", updated_at as "endedAt" from forge.listing where ${sql.join(conditions, sql` and `)}
    order by updated_at, ns, stream_id limit ${Math.min(Math.max(page.limit, 1), PAGE_MAX)}::int`,
  );
  return rows.map(({ endedAt, ...row }) => ({ ...row, endedAtMs: endedAt.getTime() }));
}

/** Waits for the head, which is safe because whoever holds it never waits; all that goes with it belongs to the head. */
export async function archiveStream(database: Database, archived: ArchivedStream): Promise<boolean> {
  const { namespace, streamId } = archived;
  if (!isUuid(streamId)) return false;
  const rows = await database.run<{ one: number }>(
    "forge_archive_stream",
    sql`
    with head as materialized (
      select s.ns, s.id from forge.stream s
      where s.ns = ${namespace} and s.id = ${streamId}::uuid and s.kind = 'run' and s.seq = ${archived.seq}::bigint and s.archive is null
        and not exists (select from forge.task t where t.ns = ${namespace} and t.stream_id = ${streamId}::uuid)
      for update
    ),
    moved as (update forge.stream s set seq = s.seq + 1, archive = ${archived.archive} from head where s.ns = head.ns and s.id = head.id),
    kept as (
      insert into forge.artifact_reference (ns, stream_id, sha256)
      select distinct head.ns, head.id, f.sha256 from head cross join unnest(${[...archived.artifacts]}::text[]) as f(sha256)
      on conflict do nothing
    ),
    listed as (update forge.listing l set archived = true from head where l.ns = head.ns and l.stream_id = head.id),
    events as (delete from forge.event e using head where e.ns = head.ns and e.stream_id = head.id),
    deltas as (delete from forge.delta d using head where d.ns = head.ns and d.stream_id = head.id),
    pruned as (delete from forge.delta_pruned p using head where p.ns = head.ns and p.stream_id = head.id),
    snapshots as (delete from forge.snapshot n using head where n.ns = head.ns and n.stream_id = head.id),
    commands as (delete from forge.command k using head where k.ns = head.ns and k.stream_id = head.id)
    select 1 as one from head`,
  );
  return rows.length > 0;
}
