import type { NewTask, StoredTask } from "@forge/engine/ports";
import { isUuid } from "@forge/protocol";
import { sql } from "kysely";
import type { Database } from "../database.ts";
import { storedTask, TASK_COLUMNS, type TaskRow } from "./task-row.ts";

export async function tasksOf(database: Database, namespace: string, streamId: string): Promise<readonly StoredTask[]> {
  if (!isUuid(streamId)) return [];
  const rows = await database.run<TaskRow>(
    "forge_tasks_of",
    sql`select ${TASK_COLUMNS} from forge.task t where t.ns = ${namespace} and t.stream_id = ${streamId}::uuid order by t.task_key`,
  );
  return rows.map(storedTask);
}

/** Whether any work or command is there, due or not, held or not. */
export async function hasWork(database: Database): Promise<boolean> {
  const [row] = await database.run<{ exists: boolean }>(
    "forge_has_work",
    sql`select exists (select from forge.task where kind in ('work', 'command')) or exists (select from forge.schedule where look_at is not null) as exists`,
  );
  return row?.exists ?? false;
}

/**
 * Adds, removes and marks tasks while the head is still at seq; false when it has moved. Unlike an append it waits for the head and for the tasks, which is safe because
 * whoever holds them never waits. Two repairs at once add a task once.
 */
export async function repairTasks(
  database: Database,
  namespace: string,
  streamId: string,
  seq: number,
  change: { add: readonly NewTask[]; remove: readonly string[]; cancel: readonly string[] },
): Promise<boolean> {
  if (!isUuid(streamId)) return false;
  const { add } = change;
  const rows = await database.run<{ one: number }>(
    "forge_repair",
    sql`
    with head as materialized (
      select s.ns, s.id, s.kind from forge.stream s where s.ns = ${namespace} and s.id = ${streamId}::uuid and s.seq = ${seq}::bigint for update
    ),
    removed as (
      delete from forge.task t using head where t.ns = head.ns and t.stream_id = head.id and t.task_key = any(${[...change.remove]}::text[])
    ),
    marked as (
      update forge.task t set cancel_requested = true from head
      where t.ns = head.ns and t.stream_id = head.id and t.task_key = any(${[...change.cancel]}::text[]) and not t.task_key = any(${[...change.remove]}::text[])
    ),
    added as (
      insert into forge.task (ns, stream_id, task_key, stream_kind, kind, route, due_at, owner, token, epoch, lease_until, needs_start, idempotent, cancel_requested, bytes)
      select head.ns, head.id, n.task_key, head.kind, n.kind, n.route, case when n.due_ms > 0 then to_timestamp(n.due_ms / 1000) else now() + n.due_ms * interval '1 millisecond' end,
        n.owner, n.token, case when n.owner is null then 0 else 1 end, now() + n.ttl_ms * interval '1 millisecond', n.needs_start, n.idempotent, n.cancel_requested, n.bytes
      from head cross join unnest(
        ${add.map((task) => task.key)}::text[], ${add.map((task) => task.kind)}::text[], ${add.map((task) => task.route)}::text[],
        ${add.map((task) => task.dueAtMs)}::float8[], ${add.map((task) => task.needsStart)}::bool[], ${add.map((task) => task.idempotent)}::bool[], ${add.map((task) => task.cancelRequested)}::bool[],
        ${add.map((task) => task.bytes)}::bytea[], ${add.map((task) => task.lease?.owner ?? null)}::text[],
        ${add.map((task) => task.lease?.token ?? null)}::bytea[], ${add.map((task) => task.lease?.ttlMs ?? null)}::float8[]
      ) as n(task_key, kind, route, due_ms, needs_start, idempotent, cancel_requested, bytes, owner, token, ttl_ms)
      on conflict do nothing
    )
    select 1 as one from head`,
  );
  return rows.length > 0;
}
