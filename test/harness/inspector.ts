import { fromBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { createControlPlane } from "@forge/engine";
import { type Event, EventSchema } from "@forge/protocol/event";
import { createPostgresStore, type PostgresConnection } from "@forge/store-postgres";
import pg from "pg";

const NAMESPACE = "default";
/** Of the pools here and in the store. */
const CONNECTIONS_MAX = 10;

export interface StreamName {
  readonly id: string;
  readonly kind: "session" | "run";
}

/** Reads the database itself and says what is wrong with a stream. */
export interface Inspector {
  /** Every stream of the namespace. */
  streams(): Promise<readonly StreamName[]>;
  /** Events without deltas. */
  events(streamId: string): Promise<readonly Event[]>;
  /** What must hold of every stream at any moment; where `ended`, also what holds once nothing of it is under way. Each entry is one violation. */
  violations(stream: StreamName, ended: boolean): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface Row {
  readonly seq: number;
  readonly kind: string;
  readonly bytes: Buffer;
  readonly delta: boolean;
}

export async function openInspector(connection: PostgresConnection): Promise<Inspector> {
  const pool = new pg.Pool({ ...connection, max: 2 });
  pool.on("error", () => undefined);
  const store = await createPostgresStore(connection);
  const engine = await createControlPlane({ store, dispatches: false, onProblem: () => undefined });

  async function query<T extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    return (await pool.query<T>(text, [...values])).rows;
  }

  async function rowsOf(streamId: string): Promise<{ rows: readonly Row[]; head: number; prunedThrough: number }> {
    // One statement, so that all of it is of one moment.
    const rows = await query<Row & { head: string; pruned: string; seq: number }>(
      `select v.seq::int, v.kind, v.bytes, v.delta, s.seq as head, coalesce(p.through_seq, 0) as pruned
       from forge.stream s
       left join forge.delta_pruned p on p.ns = s.ns and p.stream_id = s.id
       cross join lateral (
         select seq, kind, bytes, false as delta from forge.event e where e.ns = s.ns and e.stream_id = s.id
         union all select seq, kind, bytes, true from forge.delta d where d.ns = s.ns and d.stream_id = s.id
       ) v where s.ns = $1 and s.id = $2 order by v.seq`,
      [NAMESPACE, streamId],
    );
    return { rows, head: Number(rows[0]?.head ?? 0), prunedThrough: Number(rows[0]?.pruned ?? 0) };
  }

  /** Where the task rows differ from the folded state, with the stream standing still meanwhile. */
  async function taskDifferences({ id, kind }: StreamName): Promise<readonly string[]> {
    for (let attempt = 0; attempt < 50; attempt++) {
      const difference = await engine.compareTasks(NAMESPACE, id, kind);
      if (difference === undefined) return [`${kind} ${id} does not exist`];
      const [head] = await store.heads([{ namespace: NAMESPACE, streamId: id }]);
      const found = [
        ...difference.add.map((task) => `task ${task.key} is wanted and not there`),
        ...difference.remove.map((key) => `task ${key} is there and not wanted`),
        ...difference.cancel.map((key) => `task ${key} is not asked to stop`),
      ];
      if (found.length === 0 || head?.seq === difference.seq) return found;
    }
    return [];
  }

  async function commandDifferences(streamId: string, events: readonly Event[]): Promise<readonly string[]> {
    const records = await query<{ command_id: string; seq: number }>("select command_id, seq::int from forge.command where ns = $1 and stream_id = $2", [
      NAMESPACE,
      streamId,
    ]);
    const byId = new Map(records.map((record) => [record.command_id, record.seq]));
    const lastOf = new Map<string, number>();
    const found: string[] = [];
    for (const event of events) {
      const previous = lastOf.get(event.commandId);
      if (previous !== undefined && previous !== Number(event.seq) - 1)
        found.push(`command ${event.commandId} has effects at ${previous} and again at ${event.seq}`);
      lastOf.set(event.commandId, Number(event.seq));
    }
    for (const [id, seq] of lastOf) if (byId.get(id) !== seq) found.push(`command ${id} ended at seq ${seq}, and its record says ${byId.get(id) ?? "nothing"}`);
    for (const id of byId.keys()) if (!lastOf.has(id)) found.push(`command ${id} has a record and no event`);
    return found;
  }

  return {
    streams: () => evenAfterCrash(() => query<StreamName>("select id::text, kind from forge.stream where ns = $1 order by id", [NAMESPACE])),
    events: async (streamId) => {
      const { rows } = await evenAfterCrash(() => rowsOf(streamId));
      return rows.filter((row) => !row.delta).map((row) => fromBinary(EventSchema, row.bytes));
    },
    violations: (stream, ended) =>
      evenAfterCrash(async () => {
        const { rows, head, prunedThrough } = await rowsOf(stream.id);
        const events = rows.map((row) => fromBinary(EventSchema, row.bytes));
        const facts = events.filter((_, index) => rows[index]?.delta === false);
        const found = [
          ...sequence(rows, events, head, prunedThrough),
          ...calls(facts, ended),
          ...turns(facts, ended),
          ...run(stream, facts, ended),
          ...(ended ? await commandDifferences(stream.id, facts) : []),
          ...(await taskDifferences(stream)),
        ];
        return found.map((what) => `${stream.kind} ${stream.id}: ${what}`);
      }),
    close: async () => {
      await engine.close();
      await store.close();
      await pool.end();
    },
  };
}

/** A crash of the database ends connections that wait in a pool, which only who uses them next finds out: one failure for each of them at most. */
async function evenAfterCrash<T>(read: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await read();
    } catch (error) {
      if (failures === CONNECTIONS_MAX) throw error;
    }
  }
}

/** seq goes from 1 to the head without gap or double, but for deltas that were pruned; the envelope says what the row says; time never goes back. */
function sequence(rows: readonly Row[], events: readonly Event[], head: number, prunedThrough: number): readonly string[] {
  const found: string[] = [];
  let previous = 0;
  let previousMs = 0;
  const ids = new Set<string>();
  for (const [index, row] of rows.entries()) {
    const event = events[index] as Event;
    if (row.seq <= previous) found.push(`seq ${row.seq} is there twice`);
    else if (row.seq > previous + 1 && row.seq - 1 > prunedThrough)
      found.push(`nothing between seq ${previous} and ${row.seq}, and pruned was only through ${prunedThrough}`);
    if (Number(event.seq) !== row.seq || event.kind !== row.kind) found.push(`row ${row.seq} ${row.kind} holds event ${event.seq} ${event.kind}`);
    if (event.kind.endsWith(".output_delta") !== row.delta) found.push(`${event.kind} at ${row.seq} is in the wrong table`);
    if (ids.has(event.eventId)) found.push(`event id ${event.eventId} is there twice`);
    ids.add(event.eventId);
    const atMs = event.occurredAt === undefined ? 0 : timestampMs(event.occurredAt);
    if (atMs < previousMs) found.push(`event ${row.seq} occurred before the one before it`);
    previous = row.seq;
    previousMs = atMs;
  }
  if (previous !== head && head > prunedThrough) found.push(`the head is at ${head} and the last event at ${previous}`);
  return found;
}

const CALL_ENDS: ReadonlySet<string> = new Set(["tool.completed", "tool.failed", "tool.cancelled", "tool.denied", "tool.settled_unknown"]);

function calls(events: readonly Event[], ended: boolean): readonly string[] {
  const found: string[] = [];
  const byCall = Map.groupBy(
    events.filter((event) => event.toolCallId !== "" && event.kind !== "step.started"),
    (event) => event.toolCallId,
  );
  for (const [id, own] of byCall) {
    const ends = own.filter((event) => CALL_ENDS.has(event.kind));
    if (ends.length > 1 || (ended && ends.length === 0)) found.push(`tool call ${id} has ${ends.length} ends: ${own.map((event) => event.kind).join(", ")}`);
    const [end] = ends;
    const after = end === undefined ? [] : own.filter((event) => event.seq > end.seq && event.kind !== "tool.reported_late");
    if (after.length > 0) found.push(`tool call ${id} goes on after its end: ${after.map((event) => event.kind).join(", ")}`);
    if (end?.kind === "tool.settled_unknown" && !own.some((event) => event.kind === "tool.started"))
      found.push(`tool call ${id} is unknown though it never started`);
  }
  return found;
}

const TURN_ENDS: ReadonlySet<string> = new Set(["turn.completed", "turn.failed", "turn.cancelled", "turn.abandoned"]);
const LATER: ReadonlySet<string> = new Set(["tool.reported_late"]);

function turns(events: readonly Event[], ended: boolean): readonly string[] {
  const found: string[] = [];
  const byTurn = Map.groupBy(
    events.filter((event) => event.turnId !== ""),
    (event) => event.turnId,
  );
  for (const [id, own] of byTurn) {
    const ends = own.filter((event) => TURN_ENDS.has(event.kind));
    if (ends.length > 1 || (ended && ends.length === 0)) found.push(`turn ${id} has ${ends.length} ends`);
    const [end] = ends;
    const after = end === undefined ? [] : own.filter((event) => event.seq > end.seq && !LATER.has(event.kind));
    if (after.length > 0) found.push(`turn ${id} goes on after its end: ${after.map((event) => event.kind).join(", ")}`);
  }
  return found;
}

const RUN_ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);

function run({ kind }: StreamName, events: readonly Event[], ended: boolean): readonly string[] {
  if (kind !== "run") return [];
  const found: string[] = [];
  const ends = events.filter((event) => RUN_ENDS.has(event.kind));
  if (ends.length > 1 || (ended && ends.length === 0)) found.push(`the run has ${ends.length} ends`);
  const begun = new Map<number, number>();
  for (const { payload } of events) {
    if (payload.case === "stepStarted") begun.set(payload.value.executionIndex, begun.get(payload.value.executionIndex) ?? 0);
    if (payload.case !== "stepCompleted" && payload.case !== "stepFailed" && payload.case !== "stepCancelled") continue;
    const index = payload.value.executionIndex ?? -1;
    begun.set(index, (begun.get(index) ?? Number.POSITIVE_INFINITY) + 1);
  }
  for (const [index, count] of begun) if (count > 1 || (ended && count === 0)) found.push(`execution ${index} has ${count} ends`);
  return found;
}
