import type pg from "pg";
import { EVENT_BYTES, STREAMS } from "./contents.ts";

interface Written {
  readonly streams: number;
  readonly events: number;
  readonly commands: number;
  readonly heads: number;
  readonly gaps: number;
  readonly bytes: number;
}

/** How far an event's size may be from the wanted one: its seq and times are numbers of varying length. */
const BYTES_OFF_MAX = 8;

/** Counts what a round wrote: a round whose acknowledged appends are not all in the database, once each and without a gap, is not worth a number. */
export async function checkAppends(pool: pg.Pool, namespace: string, acknowledged: number, createdWithEvent: boolean): Promise<void> {
  const { rows } = await pool.query<Written>(
    `with per_stream as (
       select s.seq as head, count(e.seq)::int as events, coalesce(max(e.seq), 0) as last, avg(length(e.bytes))::float8 as bytes
       from forge.stream s left join forge.event e on e.ns = s.ns and e.stream_id = s.id where s.ns = $1 group by s.id, s.seq
     )
     select count(*)::int as streams, sum(events)::int as events, sum(head)::int as heads, avg(bytes)::float8 as bytes,
       count(*) filter (where head <> last or last <> events)::int as gaps,
       (select count(*)::int from forge.command where ns = $1) as commands
     from per_stream`,
    [namespace],
  );
  const written = rows[0] as Written;
  const expected = acknowledged + (createdWithEvent ? STREAMS : 0);
  const wrong =
    written.streams !== STREAMS ||
    written.events !== expected ||
    written.commands !== expected ||
    written.heads !== expected ||
    written.gaps !== 0 ||
    Math.abs(written.bytes - EVENT_BYTES) > BYTES_OFF_MAX;
  if (wrong) throw new Error(`${namespace} acknowledged ${expected} appends of ${EVENT_BYTES} bytes, and the database holds ${JSON.stringify(written)}`);
}
