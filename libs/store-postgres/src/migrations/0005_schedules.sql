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
