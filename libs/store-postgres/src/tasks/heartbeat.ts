import type { StoredTask, TaskId } from "@forge/engine/ports";
import { isUuid } from "@forge/protocol";
import { sql } from "kysely";
import type { Database } from "../database.ts";
import { type Released, released, takeAway } from "./release.ts";

interface HeldRow {
  readonly place: number;
  readonly holds: boolean;
  readonly cancel_requested: boolean;
}

/** How long a lease may be under way to its worker. A heartbeat that left before it arrived does not name it yet. */
const UNDER_WAY_MS = 2_000;

/**
 * A worker session says that it lives and what it holds. What it does not name is taken away, unless the lease is so young that it may not have reached the worker
 * (two seconds, or a third of its time where that is less; the age is told from its end, so leases and heartbeats must have the same ttl).
 */
export async function heartbeat(
  database: Database,
  request: { sessionId: string; ttlMs: number; held: readonly (TaskId & { epoch: number })[] },
): Promise<{ known: boolean; cancelled: readonly TaskId[]; lost: readonly TaskId[]; abandoned: readonly StoredTask[]; routes: Released["routes"] }> {
  const { sessionId, ttlMs } = request;
  const held = request.held.filter(({ streamId }) => isUuid(streamId));
  const named = sql`unnest(
    ${held.map(({ namespace }) => namespace)}::text[], ${held.map(({ streamId }) => streamId)}::uuid[], ${held.map(({ key }) => key)}::text[],
    ${held.map(({ epoch }) => epoch)}::int[]
  ) with ordinality as h(ns, stream_id, task_key, epoch, place)`;

  const [worker] = await database.run<{ session_id: string }>(
    "forge_heartbeat",
    sql`update forge.worker set alive_until = now() + ${ttlMs}::float8 * interval '1 millisecond' where session_id = ${sessionId} returning session_id`,
  );
  // A lease whose row an append holds just now is not extended this time; it has time left until the next.
  const rows = await database.run<HeldRow>(
    "forge_extend",
    sql`
    with h as materialized (select * from ${named}),
    free as materialized (
      select h.place, h.ns, h.stream_id, h.task_key from h cross join lateral (
        select from forge.task t where t.ns = h.ns and t.stream_id = h.stream_id and t.task_key = h.task_key and t.epoch = h.epoch and t.owner = ${sessionId}
        for update skip locked
      ) t
    ),
    extended as (
      update forge.task t set lease_until = greatest(t.lease_until, now() + ${ttlMs}::float8 * interval '1 millisecond') from free
      where t.ns = free.ns and t.stream_id = free.stream_id and t.task_key = free.task_key
    )
    select h.place, t.ns is not null as holds, coalesce(t.cancel_requested, false) as cancel_requested
    from h left join forge.task t on t.ns = h.ns and t.stream_id = h.stream_id and t.task_key = h.task_key and t.epoch = h.epoch and t.owner = ${sessionId}`,
  );
  const missed = await database.run(
    "forge_missed",
    takeAway(sql`
      select t.ns, t.stream_id, t.task_key from forge.task t
      where t.owner = ${sessionId} and t.lease_until < now() + ${ttlMs - Math.min(UNDER_WAY_MS, ttlMs / 3)}::float8 * interval '1 millisecond'
        and not exists (select from ${named} where h.ns = t.ns and h.stream_id = t.stream_id and h.task_key = t.task_key and h.epoch = t.epoch)
      for update of t skip locked`),
  );

  const { started, routes } = released(missed);
  const taskAt = ({ place }: HeldRow): TaskId => {
    const { namespace, streamId, key } = held[place - 1] as TaskId;
    return { namespace, streamId, key };
  };
  const unknown = request.held.filter(({ streamId }) => !isUuid(streamId)).map(({ namespace, streamId, key }) => ({ namespace, streamId, key }));
  return {
    known: worker !== undefined,
    cancelled: rows.filter((row) => row.holds && row.cancel_requested).map(taskAt),
    lost: [...rows.filter((row) => !row.holds).map(taskAt), ...unknown],
    abandoned: started,
    routes,
  };
}
