import type { StreamAppend } from "@forge/engine/ports";
import { type Relation, type RowOf, relation } from "./relation.ts";

// The rows of a batch. `i` is the place of an append in its batch.
export const streams = relation({ i: "int4", ns: "text", id: "uuid", kind: "text", expected: "int8", seq: "int8" });
export const commands = relation({ i: "int4", command_id: "text", digest: "bytea", seq: "int8", result_type: "text", result: "bytea" });
/** Existing tasks that an append touches: with an epoch it requires the lease, without one it takes the task whoever holds it. */
export const touches = relation({
  i: "int4",
  stream_id: "uuid",
  task_key: "text",
  epoch: "int4",
  token: "bytea",
  /** Null: whoever holds it. */
  owner: "text",
  removed: "bool",
  started: "bool",
  cancelled: "bool",
});
export const events = relation({ i: "int4", seq: "int8", kind: "text", bytes: "bytea" });
/** due_ms 0 is now, and less is so much before now; a lease has owner, token and ttl_ms. */
export const tasks = relation({
  i: "int4",
  task_key: "text",
  kind: "text",
  route: "text",
  due_ms: "float8",
  needs_start: "bool",
  idempotent: "bool",
  cancel_requested: "bool",
  bytes: "bytea",
  owner: "text",
  token: "bytea",
  ttl_ms: "float8",
});
/** labels is JSON; approvals an array of bytea as PostgreSQL writes one, because arrays of arrays would have to be of one length. */
export const listings = relation({
  i: "int4",
  status: "text",
  detail_status: "text",
  title: "text",
  subject: "text",
  version: "text",
  labels: "text",
  approvals: "text",
});
export const artifacts = relation({ i: "int4", sha256: "text" });

type Rows<R> = R extends Relation<infer C> ? RowOf<C>[] : never;

/** A batch as parameters, in the order in which a statement for these relations unnests them. */
export interface EncodedBatch {
  readonly present: ReadonlySet<"c" | "x" | "v" | "w" | "n" | "l" | "f">;
  readonly values: Buffer[];
}

/** The parameters of the append statements; a relation without rows has none. */
export function encodeBatch(appends: readonly StreamAppend[]): EncodedBatch {
  const rows = {
    streams: [] as Rows<typeof streams>,
    commands: [] as Rows<typeof commands>,
    touches: [] as Rows<typeof touches>,
    events: [] as Rows<typeof events>,
    deltas: [] as Rows<typeof events>,
    tasks: [] as Rows<typeof tasks>,
    listings: [] as Rows<typeof listings>,
    artifacts: [] as Rows<typeof artifacts>,
  };
  for (const [i, append] of appends.entries()) {
    const { namespace: ns, streamId: id, kind, expectedSeq: expected } = append;
    rows.streams.push({ i, ns, id, kind, expected, seq: expected + append.events.length });
    for (const { commandId, digest, seq, resultType, result } of append.commands) {
      rows.commands.push({ i, command_id: commandId, digest, seq, result_type: resultType, result });
    }
    rows.touches.push(...touchesOf(i, append));
    for (const { seq, kind, bytes } of append.events) (append.deltas ? rows.deltas : rows.events).push({ i, seq, kind, bytes });
    for (const task of append.addTasks) {
      const { key: task_key, kind, route, dueAtMs: due_ms, needsStart: needs_start, idempotent, cancelRequested: cancel_requested, bytes, lease } = task;
      const held = { owner: lease?.owner ?? null, token: lease?.token ?? null, ttl_ms: lease?.ttlMs ?? null };
      rows.tasks.push({ i, task_key, kind, route, due_ms, needs_start, idempotent, cancel_requested, bytes, ...held });
    }
    if (append.listing !== undefined) {
      const { status, detailStatus: detail_status, title, subject, version, labels, approvals } = append.listing;
      rows.listings.push({ i, status, detail_status, title, subject, version, labels: JSON.stringify(labels), approvals: byteaArray(approvals) });
    }
    for (const sha256 of append.artifacts) rows.artifacts.push({ i, sha256 });
  }
  const parts = [
    ["c", rows.commands.length, () => commands.encode(rows.commands)],
    ["x", rows.touches.length, () => touches.encode(rows.touches)],
    ["v", rows.events.length, () => events.encode(rows.events)],
    ["w", rows.deltas.length, () => events.encode(rows.deltas)],
    ["n", rows.tasks.length, () => tasks.encode(rows.tasks)],
    ["l", rows.listings.length, () => listings.encode(rows.listings)],
    ["f", rows.artifacts.length, () => artifacts.encode(rows.artifacts)],
  ] as const;
  const filled = parts.filter(([, length]) => length > 0);
  return { present: new Set(filled.map(([name]) => name)), values: [...streams.encode(rows.streams), ...filled.flatMap(([, , encode]) => encode())] };
}

/** An epoch that no task has. */
const NEVER = -1;

type Touch = { -readonly [Name in keyof RowOf<typeof touches.columns>]: RowOf<typeof touches.columns>[Name] };

/** One row for each task, because a statement may change a row only once. */
function touchesOf(i: number, append: StreamAppend): readonly Touch[] {
  const byTask = new Map<string, Touch>();
  const touch = (streamId: string, key: string): Touch => {
    const id = `${streamId} ${key}`;
    let row = byTask.get(id);
    if (row === undefined) {
      row = { i, stream_id: streamId, task_key: key, epoch: null, token: null, owner: null, removed: false, started: false, cancelled: false };
      byTask.set(id, row);
    }
    return row;
  };
  for (const { streamId, key, epoch, token, owner = null } of append.requires) {
    const row = touch(streamId, key);
    // Two proofs of one task can't both hold: the append is fenced, and whoever sent them finds out which does.
    const differs = row.epoch !== null && (row.epoch !== epoch || row.token === null || Buffer.compare(row.token, token) !== 0 || row.owner !== owner);
    Object.assign(row, { epoch: differs ? NEVER : epoch, token, owner });
  }
  for (const { streamId, key } of append.settles) touch(streamId, key).removed = true;
  for (const key of append.starts) touch(append.streamId, key).started = true;
  for (const key of append.removeTasks) touch(append.streamId, key).removed = true;
  for (const key of append.cancelTasks) touch(append.streamId, key).cancelled = true;
  return [...byTask.values()];
}

function byteaArray(values: readonly Uint8Array[]): string {
  return `{${values.map((value) => `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}"`).join(",")}}`;
}
