import { artifacts, commands, events, listings, streams, tasks, touches } from "./batch.ts";
import type { Relation } from "./relation.ts";

/** The relations of a batch beside its streams, by the name that the statements give them. */
const RELATIONS = { c: commands, x: touches, v: events, w: events, n: tasks, l: listings, f: artifacts } as const;
export type RelationName = keyof typeof RELATIONS;
export const RELATION_NAMES = Object.keys(RELATIONS) as readonly RelationName[];

/** Inputs as common table expressions, numbered in the order of encodeBatch. Materialized, so that each array is unnested once. */
function inputs(present: ReadonlySet<RelationName>): string {
  const relations: readonly (readonly [string, Relation<Record<string, never>>])[] = [
    ["a", streams],
    ...RELATION_NAMES.filter((name) => present.has(name)).map((name) => [name, RELATIONS[name]] as const),
  ] as never;
  let first = 1;
  return relations
    .map(([name, relation]) => {
      const text = `${name} as materialized (select * from ${relation.unnest(name, first)})`;
      first += Object.keys(relation.columns).length;
      return text;
    })
    .join(",\n");
}

/**
 * What may not go on. Look-ups are LATERAL with a lock, a limit or an offset, so that the planner can only do them by key, one by one.
 * touched: the tasks that are touched; locked where nobody else holds their row, else there if they exist as required.
 * blocked: appends with a task that could not be locked; fenced where its lease is gone.
 * seen: appends with a command that has its record.
 */
const TOUCHED = `
touched as materialized (
  select x.*, a.ns, coalesce(locked.yes, false) as locked, coalesce(there.yes, false) as there
  from x join a using (i)
  left join lateral (
    select true as yes from forge.task t
    where t.ns = a.ns and t.stream_id = x.stream_id and t.task_key = x.task_key and (x.epoch is null or (t.epoch = x.epoch and t.token = x.token and t.owner = coalesce(x.owner, t.owner)))
    for update skip locked
  ) locked on true
  left join lateral (
    select true as yes from forge.task t
    where locked.yes is null and t.ns = a.ns and t.stream_id = x.stream_id and t.task_key = x.task_key
      and (x.epoch is null or (t.epoch = x.epoch and t.token = x.token and t.owner = coalesce(x.owner, t.owner)))
    limit 1
  ) there on true
),
blocked as materialized (
  select i, bool_or(not there and epoch is not null) as fenced from touched where not locked and (there or epoch is not null) group by i
)`;

const SEEN = `
seen as materialized (
  select distinct c.i from c join a using (i) cross join lateral (
    select from forge.command k where k.ns = a.ns and k.stream_id = a.id and k.command_id = c.command_id limit 1
  ) k
)`;

function free(present: ReadonlySet<RelationName>): string {
  const conditions = [...(present.has("c") ? ["a.i not in (select i from seen)"] : []), ...(present.has("x") ? ["a.i not in (select i from blocked)"] : [])];
  return `\nfree as materialized (select a.* from a where ${conditions.length === 0 ? "true" : conditions.join(" and ")})`;
}

/** A head that is where it was decided on, and that nobody holds, moves. A rival's commit after this statement's snapshot is found by the recheck of the lock. */
const MOVED_HEADS = `
locked as materialized (
  select free.* from free cross join lateral (
    select from forge.stream s where s.ns = free.ns and s.id = free.id and s.seq = free.expected for update skip locked
  ) s
),
ok as (
  update forge.stream s set seq = locked.seq from locked where s.ns = locked.ns and s.id = locked.id returning locked.i, s.ns, s.id, s.kind
)`;

/**
 * Heads that are born, in order: two statements that create the same streams wait for each other, and in one order they can't deadlock.
 * Heads that are known to exist are left out beforehand, because ON CONFLICT would wait for whoever is moving them.
 */
const BORN_HEADS = `
born as (
  insert into forge.stream (ns, id, kind, seq)
  select free.ns, free.id, free.kind, free.seq from free
  where not exists (select from forge.stream s where s.ns = free.ns and s.id = free.id)
  order by free.ns, free.id
  on conflict do nothing
  returning ns, id, kind
),
ok as materialized (select a.i, born.ns, born.id, born.kind from born join a using (ns, id))`;

/**
 * All that goes with the heads that moved. The rows belong to a head that is locked, so none of these waits.
 * `(... in ...) is true` is looked up in a hash; a join with ok, which the planner takes for one row, would be a loop over the batch for each of its rows.
 */
const WRITES: Readonly<Record<RelationName, string>> = {
  c: `
write_commands as (
  insert into forge.command (ns, stream_id, command_id, digest, seq, result_type, result)
  select ok.ns, ok.id, c.command_id, c.digest, c.seq, c.result_type, c.result from c join ok using (i)
)`,
  x: `
remove_tasks as (
  delete from forge.task t using touched x
  where x.locked and x.removed and (x.i in (select i from ok)) is true and t.ns = x.ns and t.stream_id = x.stream_id and t.task_key = x.task_key
),
mark_tasks as (
  update forge.task t set started = t.started or x.started, cancel_requested = t.cancel_requested or x.cancelled from touched x
  where x.locked and not x.removed and (x.started or x.cancelled) and (x.i in (select i from ok)) is true and t.ns = x.ns and t.stream_id = x.stream_id and t.task_key = x.task_key
)`,
  v: `
write_events as (
  insert into forge.event (ns, stream_id, seq, kind, bytes) select ok.ns, ok.id, v.seq, v.kind, v.bytes from v join ok using (i)
)`,
  w: `
write_deltas as (
  insert into forge.delta (ns, stream_id, seq, kind, bytes) select ok.ns, ok.id, w.seq, w.kind, w.bytes from w join ok using (i)
)`,
  n: `
add_tasks as (
  insert into forge.task (ns, stream_id, task_key, stream_kind, kind, route, due_at, owner, token, epoch, lease_until, needs_start, idempotent, cancel_requested, bytes)
  select ok.ns, ok.id, n.task_key, ok.kind, n.kind, n.route, case when n.due_ms > 0 then to_timestamp(n.due_ms / 1000) else now() + n.due_ms * interval '1 millisecond' end,
    n.owner, n.token, case when n.owner is null then 0 else 1 end, now() + n.ttl_ms * interval '1 millisecond', n.needs_start, n.idempotent, n.cancel_requested, n.bytes
  from n join ok using (i)
)`,
  l: `
write_listings as (
  insert into forge.listing (ns, stream_id, kind, status, detail_status, title, subject, version, labels, approvals)
  select ok.ns, ok.id, ok.kind, l.status, l.detail_status, l.title, l.subject, l.version, l.labels::jsonb, l.approvals::bytea[] from l join ok using (i)
  on conflict (ns, stream_id) do update set
    status = excluded.status, detail_status = excluded.detail_status, title = excluded.title, subject = excluded.subject,
    version = excluded.version, labels = excluded.labels, approvals = excluded.approvals, updated_at = excluded.updated_at
)`,
  f: `
write_references as (
  insert into forge.artifact_reference (ns, stream_id, sha256) select distinct ok.ns, ok.id, f.sha256 from f join ok using (i) on conflict do nothing
)`,
};

/** A command's record comes before the moved head: who sent it again wants the record. What was only locked by somebody else comes last. */
function outcomes(present: ReadonlySet<RelationName>): string {
  const [seen, blocked] = [present.has("c"), present.has("x")];
  return `
select a.i,
  case
    when ok.i is not null then 'ok'${seen ? "\n    when seen.i is not null then 'seen'" : ""}
    when coalesce(s.seq, 0) <> a.expected then 'conflict'${blocked ? "\n    when blocked.fenced then 'fenced'" : ""}
    else 'busy'
  end as outcome,
  coalesce(s.seq, 0) as seq
from a
left join ok using (i)${seen ? "\nleft join seen using (i)" : ""}${blocked ? "\nleft join blocked using (i)" : ""}
left join lateral (select s.seq from forge.stream s where ok.i is null and s.ns = a.ns and s.id = a.id limit 1) s on true`;
}

/** A statement and the name under which it is prepared. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

const KNOWN = new Map<string, Statement>();

/**
 * The statement for batches with rows in these relations. One statement for all would be the same but for its cost: a part without rows costs PostgreSQL as much
 * to begin and end as one with a row. `append`: to streams that exist; one snapshot, one commit, no waiting. `create`: a statement of its own, because it
 * may wait for another that creates the same, which mixed with the other would deadlock.
 */
export function statementFor(kind: "create" | "append", present: ReadonlySet<RelationName>): Statement {
  const names = RELATION_NAMES.filter((name) => present.has(name));
  const name = `forge_${kind}_${names.join("")}`;
  let statement = KNOWN.get(name);
  if (statement === undefined) {
    const parts = [
      inputs(present),
      ...(present.has("x") ? [TOUCHED] : []),
      ...(present.has("c") ? [SEEN] : []),
      free(present),
      kind === "create" ? BORN_HEADS : MOVED_HEADS,
      ...names.map((relation) => WRITES[relation]),
    ];
    statement = { name, text: `with ${parts.join(",")}${outcomes(present)}` };
    KNOWN.set(name, statement);
  }
  return statement;
}
