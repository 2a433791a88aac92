-- Control planes of different versions beside each other.

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
