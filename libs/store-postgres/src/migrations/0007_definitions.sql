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
