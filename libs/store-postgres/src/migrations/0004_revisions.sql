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
