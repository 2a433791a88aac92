import type { EventPage, LoadedStream, StoredCommand, StoredEvent } from "@forge/engine/ports";
import { isUuid } from "@forge/protocol";
import { sql } from "kysely";
import type { Database } from "./database.ts";

interface PartRow {
  readonly part: "head" | "snapshot" | "event";
  readonly seq: number;
  readonly kind: string;
  readonly bytes: Buffer | null;
  readonly pruned: number;
  readonly archive: string | null;
}

const EVENTS_MAX = 10_000;

function storedEvents(rows: readonly PartRow[]): readonly StoredEvent[] {
  return rows.filter((row) => row.part === "event").map(({ seq, kind, bytes }) => ({ seq, kind, bytes: bytes as Buffer }));
}

/** Head, newest snapshot of the reducer version and the events after it, of one database snapshot because of one statement. With afterSeq: the events after that, and no snapshot. */
export async function load(
  database: Database,
  namespace: string,
  streamId: string,
  reducerVersion: number,
  afterSeq?: number,
): Promise<LoadedStream | undefined> {
  if (!isUuid(streamId)) return undefined;
  const rows = await database.run<PartRow>(
    "forge_load",
    sql`
    with snapshot as materialized (
      select seq, bytes from forge.snapshot
      where ns = ${namespace} and stream_id = ${streamId}::uuid and reducer_version = ${reducerVersion}::int and ${afterSeq ?? null}::bigint is null
    )
    select 'head' as part, seq, kind, null::bytea as bytes, 0::bigint as pruned, archive from forge.stream where ns = ${namespace} and id = ${streamId}::uuid
    union all select 'snapshot', seq, '', bytes, 0, null from snapshot
    union all (
      select 'event', seq, kind, bytes, 0, null from forge.event
      where ns = ${namespace} and stream_id = ${streamId}::uuid and seq > coalesce(${afterSeq ?? null}::bigint, (select seq from snapshot), 0) order by seq
    )`,
  );
  const head = rows.find((row) => row.part === "head");
  if (head === undefined) return undefined;
  const snapshot = rows.find((row) => row.part === "snapshot");
  return {
    kind: head.kind as LoadedStream["kind"],
    seq: head.seq,
    snapshot: snapshot === undefined ? undefined : { seq: snapshot.seq, bytes: snapshot.bytes as Buffer },
    events: storedEvents(rows).toSorted((a, b) => a.seq - b.seq),
    archive: head.archive ?? undefined,
  };
}

export async function readEvents(
  database: Database,
  namespace: string,
  streamId: string,
  range: { afterSeq: number; throughSeq?: number; limit: number; deltas: boolean; kinds?: readonly string[] },
): Promise<EventPage> {
  if (!isUuid(streamId)) return { events: [], headSeq: 0, prunedThroughSeq: 0 };
  const limit = Math.min(Math.max(range.limit, 1), EVENTS_MAX);
  const kinds = range.kinds === undefined ? null : [...range.kinds];
  const wanted = sql`ns = ${namespace} and stream_id = ${streamId}::uuid and seq > ${range.afterSeq}::bigint
    and seq <= ${range.throughSeq ?? Number.MAX_SAFE_INTEGER}::bigint
    and (${kinds}::text[] is null or kind = any(${kinds}::text[])) order by seq limit ${limit}::int`;
  const rows = await database.run<PartRow>(
    "forge_read_events",
    sql`
    select 'head' as part, s.seq, '' as kind, null::bytea as bytes, case when s.archive is null then coalesce(p.through_seq, 0) else s.seq end as pruned, s.archive
    from forge.stream s left join forge.delta_pruned p on p.ns = s.ns and p.stream_id = s.id
    where s.ns = ${namespace} and s.id = ${streamId}::uuid
    union all (
      select 'event', v.seq, v.kind, v.bytes, 0, null from (
        (select seq, kind, bytes from forge.event where ${wanted})
        union all (select seq, kind, bytes from forge.delta where ${range.deltas}::bool and ${wanted})
      ) v order by v.seq limit ${limit}::int
    )`,
  );
  const head = rows.find((row) => row.part === "head");
  return {
    events: storedEvents(rows).toSorted((a, b) => a.seq - b.seq),
    headSeq: head?.seq ?? 0,
    prunedThroughSeq: head?.pruned ?? 0,
    archive: head?.archive ?? undefined,
  };
}

export async function heads(
  database: Database,
  streams: readonly { namespace: string; streamId: string }[],
): Promise<readonly { namespace: string; streamId: string; kind: LoadedStream["kind"]; seq: number }[]> {
  const asked = streams.filter(({ streamId }) => isUuid(streamId));
  if (asked.length === 0) return [];
  return await database.run<{ namespace: string; streamId: string; kind: LoadedStream["kind"]; seq: number }>(
    "forge_heads",
    sql`
    select distinct s.ns as namespace, s.id as "streamId", s.kind, s.seq
    from unnest(${asked.map(({ namespace }) => namespace)}::text[], ${asked.map(({ streamId }) => streamId)}::uuid[]) as a(ns, id)
    join forge.stream s on s.ns = a.ns and s.id = a.id`,
  );
}

export async function findCommands(database: Database, namespace: string, streamId: string, commandIds: readonly string[]): Promise<readonly StoredCommand[]> {
  if (!isUuid(streamId) || commandIds.length === 0) return [];
  const rows = await database.run<Omit<StoredCommand, "decidedAtMs"> & { decidedAt: Date }>(
    "forge_find_commands",
    sql`
    select command_id as "commandId", digest, seq, result_type as "resultType", result, decided_at as "decidedAt" from forge.command
    where ns = ${namespace} and stream_id = ${streamId}::uuid and command_id = any(${[...commandIds]}::text[])`,
  );
  return rows.map(({ decidedAt, ...command }) => ({ ...command, decidedAtMs: decidedAt.getTime() }));
}

/** An older snapshot never replaces a newer one of the same reducer version. */
export async function saveSnapshot(
  database: Database,
  namespace: string,
  streamId: string,
  seq: number,
  reducerVersion: number,
  bytes: Uint8Array,
): Promise<void> {
  await database.run(
    "forge_save_snapshot",
    sql`
    insert into forge.snapshot (ns, stream_id, reducer_version, seq, bytes)
    values (${namespace}, ${streamId}::uuid, ${reducerVersion}::int, ${seq}::bigint, ${bytes}::bytea)
    on conflict (ns, stream_id, reducer_version) do update set seq = excluded.seq, bytes = excluded.bytes where snapshot.seq < excluded.seq`,
  );
}

/** The marker never passes the head, so that what is appended later is not taken for pruned. */
export async function pruneDeltas(database: Database, namespace: string, streamId: string, throughSeq: number): Promise<void> {
  if (!isUuid(streamId)) return;
  await database.run(
    "forge_prune_deltas",
    sql`
    with through as materialized (
      select ns, id, least(seq, ${throughSeq}::bigint) as seq from forge.stream where ns = ${namespace} and id = ${streamId}::uuid and ${throughSeq}::bigint > 0
    ),
    removed as (
      delete from forge.delta d using through where d.ns = through.ns and d.stream_id = through.id and d.seq <= through.seq
    )
    insert into forge.delta_pruned (ns, stream_id, through_seq) select ns, id, seq from through
    on conflict (ns, stream_id) do update set through_seq = excluded.through_seq where delta_pruned.through_seq < excluded.through_seq`,
  );
}
