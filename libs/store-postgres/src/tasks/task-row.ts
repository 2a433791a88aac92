import type { StoredTask } from "@forge/engine/ports";
import { sql } from "kysely";

export interface TaskRow {
  readonly ns: string;
  readonly stream_id: string;
  readonly task_key: string;
  readonly stream_kind: StoredTask["streamKind"];
  readonly kind: StoredTask["kind"];
  readonly route: string;
  readonly due_at: Date;
  readonly owner: string | null;
  readonly token: Buffer | null;
  readonly epoch: number;
  readonly lease_until: Date | null;
  readonly started: boolean;
  readonly cancel_requested: boolean;
  readonly needs_start: boolean;
  readonly idempotent: boolean;
  readonly bytes: Buffer;
}

/** The columns of a TaskRow, of the task table under the alias t. */
export const TASK_COLUMNS = sql.raw(
  "t.ns, t.stream_id, t.task_key, t.stream_kind, t.kind, t.route, t.due_at, t.owner, t.token, t.epoch, t.lease_until, t.started, t.cancel_requested, t.needs_start, t.idempotent, t.bytes",
);

/** A new lease: the next epoch and 16 fresh random bytes, from the server's strong generator. */
export const NEXT_LEASE = sql.raw("epoch = t.epoch + 1, token = uuid_send(gen_random_uuid())");
/** No lease; the epoch stays, so that a late proof of it never holds again once the next lease is given. */
export const NO_LEASE = sql.raw("owner = null, token = null, lease_until = null");

export function storedTask(row: TaskRow): StoredTask {
  return {
    namespace: row.ns,
    streamId: row.stream_id,
    streamKind: row.stream_kind,
    key: row.task_key,
    kind: row.kind,
    route: row.route,
    epoch: row.epoch,
    owner: row.owner ?? undefined,
    token: row.token ?? undefined,
    leaseUntilMs: row.lease_until?.getTime(),
    dueAtMs: row.due_at.getTime(),
    started: row.started,
    cancelRequested: row.cancel_requested,
    needsStart: row.needs_start,
    idempotent: row.idempotent,
    bytes: row.bytes,
  };
}

/** Oldest due first; RETURNING has no order. */
export function inDueOrder(rows: readonly TaskRow[]): readonly StoredTask[] {
  return rows.map(storedTask).sort((a, b) => a.dueAtMs - b.dueAtMs || (a.key < b.key ? -1 : Number(a.key > b.key)));
}
