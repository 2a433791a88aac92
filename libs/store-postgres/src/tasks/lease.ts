import type { StoredTask } from "@forge/engine/ports";
import { isUuid } from "@forge/protocol";
import { sql } from "kysely";
import type { Database } from "../database.ts";
import { inDueOrder, NEXT_LEASE, NO_LEASE, TASK_COLUMNS, type TaskRow } from "./task-row.ts";

/** Leases due, unowned work of the routes, oldest due first in each route. Where the limit is short of all, a random route goes first, so that none starves. */
export async function leaseTasks(
  database: Database,
  request: { namespace: string; routes: readonly string[]; owner: string; ttlMs: number; limit: number; except?: readonly string[] },
): Promise<readonly StoredTask[]> {
  if (request.routes.length === 0 || request.limit < 1) return [];
  const rows = await database.run<TaskRow>(
    "forge_lease",
    sql`
    with due as materialized (
      select t.ns, t.stream_id, t.task_key
      from (select r.route from unnest(${[...new Set(request.routes)]}::text[]) as r(route) order by random()) r
      cross join lateral (
        select t.ns, t.stream_id, t.task_key from forge.task t
        where t.ns = ${request.namespace} and t.route = r.route and t.owner is null and t.kind = 'work' and not t.cancel_requested and t.due_at <= now()
          and t.stream_id <> all(${[...(request.except ?? [])]}::uuid[])
        order by t.due_at limit ${request.limit}::int for update skip locked
      ) t
      limit ${request.limit}::int
    )
    update forge.task t set owner = ${request.owner}, ${NEXT_LEASE}, lease_until = now() + ${request.ttlMs}::float8 * interval '1 millisecond'
    from due where t.ns = due.ns and t.stream_id = due.stream_id and t.task_key = due.task_key
    returning ${TASK_COLUMNS}`,
  );
  return inDueOrder(rows);
}

const WAITING = sql`t.owner is null and t.kind = 'work' and not t.cancel_requested`;

/** Goes from route to route in the index of dispatch, so that it costs as many steps as there are routes, however many tasks wait in each. */
export async function waitingRoutes(database: Database, limit: number): Promise<readonly { namespace: string; route: string }[]> {
  return await database.run<{ namespace: string; route: string }>(
    "forge_waiting_routes",
    sql`
    with recursive r as (
      (select t.ns, t.route from forge.task t where ${WAITING} order by t.ns, t.route limit 1)
      union all
      select next.ns, next.route from r cross join lateral (
        select t.ns, t.route from forge.task t where ${WAITING} and (t.ns, t.route) > (r.ns, r.route) order by t.ns, t.route limit 1
      ) next
    )
    select r.ns as namespace, r.route from r
    where exists (select from forge.task t where ${WAITING} and t.ns = r.ns and t.route = r.route and t.due_at <= now()) limit ${limit}::int`,
  );
}

/**
 * Leases the control plane's own due timers or commands. A stream's commands leave in order of their keys (by bytes): none is leased while an earlier one exists,
 * leased or not. nextDueInMs is how long, by the database's clock, until another becomes due.
 */
export async function leaseInternal(
  database: Database,
  request: { kind: "timer" | "command"; owner: string; ttlMs: number; limit: number; except?: readonly string[] },
): Promise<{ tasks: readonly StoredTask[]; nextDueInMs: number | undefined }> {
  // One statement, so that what becomes due meanwhile is in one of the two answers.
  const rows = await database.run<Omit<TaskRow, "ns"> & { ns: string | null; next_due_ms: number | null }>(
    "forge_lease_internal",
    sql`
    with due as materialized (
      select t.ns, t.stream_id, t.task_key from forge.task t
      where t.kind = ${request.kind} and t.kind in ('timer', 'command') and t.owner is null and t.due_at <= now() and t.stream_id <> all(${[...(request.except ?? [])]}::uuid[])
        and (t.kind = 'timer' or not exists (
          select from forge.task e where e.ns = t.ns and e.stream_id = t.stream_id and e.kind = 'command' and e.task_key < t.task_key
        ))
      order by t.due_at limit ${request.limit}::int for update of t skip locked
    ),
    leased as (
      update forge.task t set owner = ${request.owner}, ${NEXT_LEASE}, lease_until = now() + ${request.ttlMs}::float8 * interval '1 millisecond'
      from due where t.ns = due.ns and t.stream_id = due.stream_id and t.task_key = due.task_key
      returning ${TASK_COLUMNS}
    )
    select t.*, (extract(epoch from next.due_at - now()) * 1000)::float8 as next_due_ms
    from (select min(due_at) as due_at from forge.task where kind = ${request.kind} and kind in ('timer', 'command') and owner is null and due_at > now()) next
    left join leased t on true`,
  );
  const tasks = rows.filter((row): row is TaskRow & { next_due_ms: number | null } => row.ns !== null);
  return { tasks: inDueOrder(tasks), nextDueInMs: rows[0]?.next_due_ms ?? undefined };
}

/** Leases unowned tasks that are asked to stop, so that the owner can settle them. */
export async function leaseCancelled(
  database: Database,
  request: { owner: string; ttlMs: number; limit: number; streamId?: string; except?: readonly string[] },
): Promise<readonly StoredTask[]> {
  if (request.streamId !== undefined && !isUuid(request.streamId)) return [];
  const rows = await database.run<TaskRow>(
    "forge_lease_cancelled",
    sql`
    with wanted as materialized (
      select t.ns, t.stream_id, t.task_key from forge.task t
      where t.owner is null and t.cancel_requested and (${request.streamId ?? null}::uuid is null or t.stream_id = ${request.streamId ?? null}::uuid)
        and t.stream_id <> all(${[...(request.except ?? [])]}::uuid[])
      limit ${request.limit}::int for update skip locked
    )
    update forge.task t set owner = ${request.owner}, ${NEXT_LEASE}, lease_until = now() + ${request.ttlMs}::float8 * interval '1 millisecond'
    from wanted where t.ns = wanted.ns and t.stream_id = wanted.stream_id and t.task_key = wanted.task_key
    returning ${TASK_COLUMNS}`,
  );
  return inDueOrder(rows);
}

/** Gives leases back that were just given and that nothing was done with. */
export async function unlease(database: Database, tasks: readonly StoredTask[]): Promise<void> {
  if (tasks.length === 0) return;
  await database.run(
    undefined,
    sql`
    update forge.task t set ${NO_LEASE} from unnest(
      ${tasks.map((task) => task.namespace)}::text[], ${tasks.map((task) => task.streamId)}::uuid[], ${tasks.map((task) => task.key)}::text[],
      ${tasks.map((task) => task.epoch)}::int[]
    ) as given(ns, stream_id, task_key, epoch)
    where t.ns = given.ns and t.stream_id = given.stream_id and t.task_key = given.task_key and t.epoch = given.epoch and not t.started`,
  );
}
