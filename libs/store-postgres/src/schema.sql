-- The whole schema: what the migrations add up to, which a test holds. Read it here; change it by a new migration and here.

create schema forge;

-- Which migrations have been applied, and the SHA-256 of each file as it was then.
create table forge.migration (
  version    integer     primary key,
  name       text        not null,
  digest     text        not null,
  applied_at timestamptz not null default now()
);

-- Every key starts with the namespace, so that nothing crosses one and a namespace can move to another server.
-- Text keys compare by bytes (collate "C"): the order is the same on every server and comparing is cheap.
-- There are no foreign keys: checking one would lock the referenced row and make an append wait.

-- Changes its id when an operator restores a copy of the database that lacks a tail.
create table forge.incarnation (
  single boolean primary key default true check (single),
  id     uuid    not null default gen_random_uuid()
);
insert into forge.incarnation default values;

-- A stream's head. Every append moves it, so it is narrow, has no index but its key, and leaves room for updates in place.
create table forge.stream (
  ns   text collate "C" not null,
  id   uuid             not null,
  kind text             not null,
  seq  bigint           not null,
  -- The artifact with the stream's events; null, which takes no room: they are in the event table. Who finds it set can append nothing any more.
  archive text collate "C" check (archive ~ '^[0-9a-f]{64}$'),
  primary key (ns, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create table forge.event (
  ns        text collate "C" not null,
  stream_id uuid             not null,
  seq       bigint           not null,
  kind      text             not null,
  bytes     bytea            not null,
  primary key (ns, stream_id, seq)
);

-- Events that no fold reads and that may be removed once the full value is durable. They share the stream's seq.
create table forge.delta (
  ns        text collate "C" not null,
  stream_id uuid             not null,
  seq       bigint           not null,
  kind      text             not null,
  bytes     bytea            not null,
  primary key (ns, stream_id, seq)
);

-- Up to where a stream's deltas have been removed.
create table forge.delta_pruned (
  ns          text collate "C" not null,
  stream_id   uuid             not null,
  through_seq bigint           not null,
  primary key (ns, stream_id)
);

-- What became of a command; it lives as long as its stream.
create table forge.command (
  ns          text collate "C" not null,
  stream_id   uuid             not null,
  command_id  text collate "C" not null,
  digest      bytea            not null,
  seq         bigint           not null,
  result_type text             not null,
  result      bytea            not null,
  decided_at  timestamptz      not null default now(),
  primary key (ns, stream_id, command_id)
);

-- The newest snapshot for each reducer version; disposable.
create table forge.snapshot (
  ns              text collate "C" not null,
  stream_id       uuid             not null,
  reducer_version integer          not null,
  seq             bigint           not null,
  bytes           bytea            not null,
  primary key (ns, stream_id, reducer_version)
);

-- What must still be done. Rows come and go quickly, so the table is vacuumed by number of dead rows more than by share.
create table forge.task (
  ns               text collate "C" not null,
  stream_id        uuid             not null,
  task_key         text collate "C" not null,
  stream_kind      text             not null,
  kind             text             not null check (kind in ('work', 'timer', 'command')),
  route            text collate "C" not null,
  due_at           timestamptz      not null,
  owner            text collate "C",
  token            bytea,
  epoch            integer          not null,
  lease_until      timestamptz,
  started          boolean          not null default false,
  cancel_requested boolean          not null default false,
  needs_start      boolean          not null,
  idempotent       boolean          not null,
  bytes            bytea            not null,
  primary key (ns, stream_id, task_key),
  check ((owner is null) = (token is null) and (owner is null) = (lease_until is null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Dispatch to workers: the oldest due task of a route.
create index task_work_due on forge.task (ns, route, due_at) where owner is null and kind = 'work' and not cancel_requested;
-- The control plane's own timers and commands, of every namespace.
create index task_internal_due on forge.task (kind, due_at) where owner is null and kind in ('timer', 'command');
-- A stream's commands leave in order of their keys.
create index task_command_order on forge.task (ns, stream_id, task_key) where kind = 'command';
create index task_cancelled on forge.task (stream_id) where owner is null and cancel_requested;
-- Leases by holder. lease_until is in no index, so extending a lease is an update in place; what has expired is found among the leased.
create index task_leased on forge.task (owner) where owner is not null;

-- What lists show of a stream and filter by; written when it changes.
create table forge.listing (
  ns            text collate "C" not null,
  stream_id     uuid             not null,
  kind          text collate "C" not null,
  status        text collate "C" not null,
  final         boolean          not null generated always as (
    status in ('SESSION_STATUS_CLOSED', 'RUN_STATUS_COMPLETED', 'RUN_STATUS_COMPLETED_WITH_ERRORS', 'RUN_STATUS_FAILED', 'RUN_STATUS_CANCELLED')
  ) stored,
  detail_status text             not null,
  title         text             not null,
  subject       text collate "C" not null,
  version       text             not null,
  labels        jsonb            not null,
  approvals     bytea[]          not null,
  -- Whole milliseconds, because a page's cursor has no more.
  created_at    timestamptz      not null default date_trunc('milliseconds', now()),
  updated_at    timestamptz      not null default date_trunc('milliseconds', now()),
  archived      boolean          not null default false,
  primary key (ns, stream_id)
) with (fillfactor = 80);

create index listing_newest on forge.listing (ns, kind, created_at, stream_id);
create index listing_status on forge.listing (ns, kind, status, created_at, stream_id);
create index listing_subject on forge.listing (ns, kind, subject, created_at, stream_id);
create index listing_open on forge.listing (ns, stream_id) where not final;
create index listing_approvals on forge.listing (ns, stream_id) where cardinality(approvals) > 0;
-- What may be archived, in the order in which it ended.
create index listing_ended on forge.listing (updated_at, ns, stream_id) where kind = 'run' and final and not archived;

-- Each label of a list row, so that a list by label reads its page and no more, however rare the label is. Labels never change after a stream's first append.
create table forge.listing_label (
  ns         text collate "C" not null,
  kind       text collate "C" not null,
  name       text collate "C" not null,
  value      text collate "C" not null,
  created_at timestamptz      not null,
  stream_id  uuid             not null,
  primary key (ns, kind, name, value, created_at, stream_id)
);

-- A trigger, so that a control plane of an older version, which does not know of this table, keeps it as well.
create function forge.index_labels() returns trigger language plpgsql as $$
begin
  insert into forge.listing_label (ns, kind, name, value, created_at, stream_id)
  select new.ns, new.kind, label.key, label.value, new.created_at, new.stream_id from jsonb_each_text(new.labels) label
  on conflict do nothing;
  return null;
end $$;
create trigger index_labels after insert on forge.listing for each row when (new.labels <> '{}') execute function forge.index_labels();

create table forge.artifact (
  ns         text collate "C" not null,
  sha256     text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  media_type text             not null,
  content    bytea            not null,
  -- When it was last put: a sweep spares what is younger than a day, referenced or not.
  stored_at  timestamptz      not null default now(),
  primary key (ns, sha256)
);

create table forge.artifact_reference (
  ns        text collate "C" not null,
  stream_id uuid             not null,
  sha256    text collate "C" not null,
  primary key (ns, stream_id, sha256)
);
create index artifact_reference_by_hash on forge.artifact_reference (ns, sha256);

create table forge.worker (
  session_id   text collate "C" primary key,
  ns           text collate "C" not null,
  name         text collate "C" not null,
  principal    text             not null,
  queues       text[]           not null,
  capabilities bytea[]          not null,
  slots        integer          not null,
  draining     boolean          not null,
  alive_until  timestamptz      not null
);
create index worker_by_name on forge.worker (ns, name);

-- Who may call. Tokens are kept as hashes only.
create table forge.principal (
  id         text collate "C" primary key,
  role       text             not null check (role in ('viewer', 'operator', 'approver', 'admin', 'worker')),
  namespaces text[]           not null,
  queues     text[]           not null,
  token_hash bytea            not null unique,
  -- Null: never.
  expires_at timestamptz,
  created_at timestamptz      not null default date_trunc('milliseconds', now()),
  -- The principal that granted it.
  created_by text             not null
);

-- The control planes that run, and the newest event format that each reads.
create table forge.replica (
  id          text collate "C" primary key,
  reads       integer          not null,
  alive_until timestamptz      not null
);

-- The newest event format that may have been written.
create table forge.event_format (
  single  boolean primary key default true check (single),
  written integer not null
);
insert into forge.event_format (written) values (1);

-- Kept states of workspaces. The manifest is the artifact whose hash is the revision's id.
create table forge.revision (
  ns          text collate "C" not null,
  revision_id text collate "C" not null,
  parent_id   text collate "C" not null,
  label       text collate "C" not null,
  entry_count integer          not null,
  size        bigint           not null,
  -- Whole milliseconds, because a page's cursor has no more.
  created_at  timestamptz      not null default date_trunc('milliseconds', now()),
  primary key (ns, revision_id)
);
create index revision_newest on forge.revision (ns, created_at, revision_id);
create index revision_label on forge.revision (ns, label, created_at, revision_id) where label <> '';

-- What revisions keep from being swept. A sweep asks by the artifact's hash; a revision's own are known from its manifest.
create table forge.revision_artifact (
  ns          text collate "C" not null,
  sha256      text collate "C" not null,
  revision_id text collate "C" not null,
  primary key (ns, sha256, revision_id)
);

-- Runs that start by themselves, at times.
create table forge.schedule (
  ns               text collate "C" not null,
  schedule_id      text collate "C" not null,
  -- Counts changes by people.
  revision         bigint           not null,
  -- Counts all changes: who decides on times says which state he has seen.
  version          bigint           not null,
  -- Encoded forge.workflow.v1.ScheduleSpec without its run, which is encoded beside it: it is large, and read only to start it.
  spec             bytea            not null,
  run              bytea            not null,
  workflow_id      text             not null,
  workflow_version text             not null,
  paused           boolean          not null,
  note             text             not null,
  -- All times up to here have been taken.
  taken_through    timestamptz      not null,
  -- When to look at it next; null: it is paused, or nothing is to come.
  look_at          timestamptz,
  -- The time whose run waits for the one before.
  buffered_at      timestamptz,
  -- The newest run that has started, and the time that it was for.
  last_run_id      uuid,
  last_run_at      timestamptz,
  created_at       timestamptz      not null default date_trunc('milliseconds', now()),
  updated_at       timestamptz      not null default date_trunc('milliseconds', now()),
  updated_by       text             not null,
  primary key (ns, schedule_id)
) with (fillfactor = 70);
create index schedule_due on forge.schedule (look_at) where look_at is not null;

-- What became of times. A time is recorded in the statement that takes it, and its run starts afterwards under an id that derives from it.
create table forge.schedule_time (
  ns          text collate "C" not null,
  schedule_id text collate "C" not null,
  at          timestamptz      not null,
  -- Of a trigger by hand; empty: the time came by itself.
  command_id  text collate "C" not null,
  outcome     text             not null check (outcome in ('STARTING', 'STARTED', 'BUFFERED', 'SKIPPED', 'MISSED', 'FAILED')),
  run_id      uuid,
  -- Encoded forge.common.v1.ForgeError.
  error       bytea,
  -- How many times in a row it stands for.
  count       integer          not null default 1,
  decided_at  timestamptz      not null default date_trunc('milliseconds', now()),
  primary key (ns, schedule_id, at, command_id)
) with (fillfactor = 80);
create index schedule_time_starting on forge.schedule_time (ns, schedule_id, decided_at) where outcome = 'STARTING';
-- A trigger by hand is recorded once, whoever retries it, and wherever.
create unique index schedule_time_trigger on forge.schedule_time (ns, schedule_id, command_id) where command_id <> '';

-- Workflows that runs are started of by name. A version never changes.
create table forge.definition (
  ns         text collate "C" not null,
  id         text collate "C" not null,
  version    text collate "C" not null check (version ~ '^v[0-9]{1,9}([.][0-9]{1,9}){0,3}$'),
  -- By which the newest is told: v1.10 comes after v1.9.
  numbers    integer[]        not null generated always as (string_to_array(substr(version, 2), '.')::integer[]) stored,
  hash       text             not null,
  -- Encoded forge.workflow.v1.WorkflowDefinition.
  bytes      bytea            not null,
  created_at timestamptz      not null default date_trunc('milliseconds', now()),
  created_by text             not null,
  primary key (ns, id, version)
);
create index definition_newest on forge.definition (ns, id, numbers);
