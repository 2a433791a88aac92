import type pg from "pg";

const BATCH = 100_000;
/** Subjects among the copies, and values of their label. */
export const COPY_KINDS = 1000;

/**
 * Copies a stream, with its events, commands, snapshots and list entry, in the order in which the copies would have come; fewer where the time is over first. Resolves with their number. A copy's
 * list entry has one of a thousand subjects and one of as many values of its label "batch".
 */
export async function copyStream(pool: pg.Pool, streamId: string, count: number, until: number, progress: (text: string) => void): Promise<number> {
  let made = 0;
  while (made < count && performance.now() < until) {
    const size = Math.min(BATCH, count - made);
    await pool.query(
      `with template as materialized (select * from forge.listing where stream_id = $1),
       fresh as materialized (select uuidv7() as id, index from generate_series($2::int, $2::int + $3::int - 1) as index),
       streams as (insert into forge.stream (ns, id, kind, seq) select ns, fresh.id, kind, seq from forge.stream, fresh where stream.id = $1),
       events as (insert into forge.event (ns, stream_id, seq, kind, bytes) select ns, fresh.id, seq, kind, bytes from forge.event, fresh where stream_id = $1),
       commands as (
         insert into forge.command (ns, stream_id, command_id, digest, seq, result_type, result)
         select ns, fresh.id, command_id, digest, seq, result_type, result from forge.command, fresh where stream_id = $1
       ),
       snapshots as (
         insert into forge.snapshot (ns, stream_id, reducer_version, seq, bytes)
         select ns, fresh.id, reducer_version, seq, bytes from forge.snapshot, fresh where stream_id = $1
       )
       insert into forge.listing (ns, stream_id, kind, status, detail_status, title, subject, version, labels, approvals, created_at, updated_at)
       select ns, fresh.id, kind, status, detail_status, title, 'bench_' || index % ${COPY_KINDS}, version, jsonb_build_object('batch', (index % ${COPY_KINDS})::text, 'seeded', 'yes'), approvals,
         date_trunc('milliseconds', created_at - interval '30 days' * (1 - index::float8 / $4::float8)), updated_at
       from template, fresh`,
      [streamId, made, size, count],
    );
    made += size;
    progress(`  ${made} copies`);
  }
  await pool.query("vacuum analyze");
  await pool.query("checkpoint");
  return made;
}
