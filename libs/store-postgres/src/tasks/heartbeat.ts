import type { Heartbeat, HeartbeatAnswer, TaskId } from "@forge/engine/ports";
import { isUuid } from "@forge/protocol";
import { sql } from "kysely";
import type { Database } from "../database.ts";
import { type Released, released, takeAway } from "./release.ts";

interface HeldRow {
  readonly place: number;
  readonly holds: boolean;
  readonly extended: boolean;
  readonly cancel_requested: boolean;
}

/** A task that a heartbeat names, as the statements take it. */
interface Named extends TaskId {
  readonly epoch: number;
  readonly sessionId: string;
  /** The heartbeat's place among all. */
  readonly beat: number;
}

/** How long a lease may be under way to its worker. A heartbeat that left before it arrived does not name it yet. */
const UNDER_WAY_MS = 2_000;
const EPOCH_MAX = 2 ** 31 - 1;

/** Whether a task can have such a name at all: one that can't must not fail the others' statement. */
function isPossible({ streamId, key, epoch }: Named): boolean {
  return isUuid(streamId) && epoch <= EPOCH_MAX && !key.includes("\0");
}

/**
 * Worker sessions say that they live and what they hold. What they do not name is taken away, unless the lease is so young that it may not have reached the worker
 * (two seconds, or a third of its time where that is less; the age is told from its end, so leases and heartbeats must have the same ttl).
 */
export async function heartbeat(
  database: Database,
  beats: readonly Heartbeat[],
  ttlMs: number,
): Promise<{ answers: readonly HeartbeatAnswer[]; abandoned: Released["started"]; routes: Released["routes"] }> {
  const sessions = [...new Set(beats.map(({ sessionId }) => sessionId))];
  const all = beats.flatMap(({ sessionId, held }, beat) => held.map((task): Named => ({ ...task, sessionId, beat })));
  const held = all.filter(isPossible);
  const named = sql`unnest(
    ${held.map(({ namespace }) => namespace)}::text[], ${held.map(({ streamId }) => streamId)}::uuid[], ${held.map(({ key }) => key)}::text[],
    ${held.map(({ epoch }) => epoch)}::int[], ${held.map(({ sessionId }) => sessionId)}::text[]
  ) with ordinality as h(ns, stream_id, task_key, epoch, session_id, place)`;

  // In one order, so that two replicas that hear of the same workers do not wait for each other.
  const workers = await database.run<{ session_id: string }>(
    "forge_heartbeat",
    sql`
    with alive as materialized (select w.session_id from forge.worker w where w.session_id = any(${sessions}::text[]) order by w.session_id for update)
    update forge.worker w set alive_until = now() + ${ttlMs}::float8 * interval '1 millisecond' from alive where w.session_id = alive.session_id
    returning w.session_id`,
  );
  const known = new Set(workers.map(({ session_id: sessionId }) => sessionId));
  const until = sql`now() + ${ttlMs}::float8 * interval '1 millisecond'`;
  const rows =
    held.length === 0
      ? []
      : await database.run<HeldRow>(
          "forge_extend",
          sql`
          with h as materialized (select * from ${named}),
          free as materialized (
            select h.place, h.ns, h.stream_id, h.task_key from h cross join lateral (
              select from forge.task t where t.ns = h.ns and t.stream_id = h.stream_id and t.task_key = h.task_key and t.epoch = h.epoch and t.owner = h.session_id
              for update skip locked
            ) t
          ),
          extended as (
            update forge.task t set lease_until = greatest(t.lease_until, ${until}) from free
            where t.ns = free.ns and t.stream_id = free.stream_id and t.task_key = free.task_key
          )
          select h.place, t.ns is not null as holds, free.place is not null as extended, coalesce(t.cancel_requested, false) as cancel_requested
          from h left join free using (place) left join forge.task t on t.ns = h.ns and t.stream_id = h.stream_id and t.task_key = h.task_key and t.epoch = h.epoch and t.owner = h.session_id`,
        );
  // What an append holds just now is waited for, since one that reports without a pause holds its row at almost every moment: one by one, so that nobody who waits holds another.
  for (const { place } of rows.filter(({ holds, extended }) => holds && !extended)) {
    const { namespace, streamId, key, epoch, sessionId } = held[place - 1] as Named;
    await database.run(
      "forge_extend_one",
      sql`
      update forge.task t set lease_until = greatest(t.lease_until, ${until})
      where t.ns = ${namespace} and t.stream_id = ${streamId}::uuid and t.task_key = ${key} and t.epoch = ${epoch}::int and t.owner = ${sessionId}`,
    );
  }
  const missed = await database.run(
    "forge_missed",
    takeAway(sql`
      select t.ns, t.stream_id, t.task_key from forge.task t
      where t.owner = any(${sessions}::text[]) and t.lease_until < now() + ${ttlMs - Math.min(UNDER_WAY_MS, ttlMs / 3)}::float8 * interval '1 millisecond'
        and not exists (
          select from ${named} where h.ns = t.ns and h.stream_id = t.stream_id and h.task_key = t.task_key and h.epoch = t.epoch and h.session_id = t.owner
        )
      for update of t skip locked`),
  );

  const answers = beats.map(({ sessionId }) => ({ known: known.has(sessionId), cancelled: [] as TaskId[], lost: [] as TaskId[] }));
  const tell = (list: "cancelled" | "lost", { beat, namespace, streamId, key }: Named): void => {
    answers[beat]?.[list].push({ namespace, streamId, key });
  };
  for (const { place, holds, cancel_requested: isCancelled } of rows) {
    const task = held[place - 1] as Named;
    if (!holds) tell("lost", task);
    else if (isCancelled) tell("cancelled", task);
  }
  for (const task of all) if (!isPossible(task)) tell("lost", task);
  const { started, routes } = released(missed);
  return { answers, abandoned: started, routes };
}
