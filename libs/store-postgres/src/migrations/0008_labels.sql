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

insert into forge.listing_label (ns, kind, name, value, created_at, stream_id)
select l.ns, l.kind, label.key, label.value, l.created_at, l.stream_id from forge.listing l cross join lateral jsonb_each_text(l.labels) label where l.labels <> '{}'
on conflict do nothing;
drop index forge.listing_labels;
