import { randomUUID } from "node:crypto";
import type pg from "pg";
import { measure, Turnstile } from "../load.ts";
import { type BenchStream, DIGEST, EVENT, EVENT_KIND, IN_FLIGHT, newStreams, RESULT, RESULT_TYPE } from "./contents.ts";
import type { AppendWorkload } from "./workload.ts";

/** One statement per append: head, event and command record. It is thinner than the engine's, which checks leases and moves tasks as well. */
const APPEND = `
with moved as (
  update forge.stream set seq = seq + 1 where ns = $1 and id = $2 and seq = $3 returning ns, id, seq
),
event as (
  insert into forge.event (ns, stream_id, seq, kind, bytes) select ns, id, seq, $4, $5 from moved
),
command as (
  insert into forge.command (ns, stream_id, command_id, digest, seq, result_type, result) select ns, id, $6, $7, seq, $8, $9 from moved
)
select seq from moved`;

async function append(pool: pg.Pool, namespace: string, stream: BenchStream): Promise<void> {
  const values = [namespace, stream.id, stream.seq, EVENT_KIND, EVENT, randomUUID(), DIGEST, RESULT_TYPE, RESULT];
  const { rowCount } = await pool.query({ name: "bench_append", text: APPEND, values });
  if (rowCount !== 1) throw new Error(`a head of the unbatched baseline was not at ${stream.seq}`);
  stream.seq++;
}

/** Every append is a statement and a commit of its own, 32 connections at once. */
export function singleAppends(pool: pg.Pool): AppendWorkload {
  return {
    name: "one statement per append",
    async round(namespace, extent) {
      const streams = newStreams();
      const ids = streams.map(({ id }) => id);
      await pool.query("insert into forge.stream (ns, id, kind, seq) select $1, id, 'session', 0 from unnest($2::uuid[]) as id", [namespace, ids]);
      const turnstile = new Turnstile(streams);
      return await measure(IN_FLIGHT, extent, () => turnstile.use((stream) => append(pool, namespace, stream)));
    },
  };
}
