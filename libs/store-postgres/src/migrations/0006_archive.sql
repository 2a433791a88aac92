-- Ended runs whose events are kept in an artifact instead of in rows.

-- The artifact with the stream's events; null, which takes no room: they are in the event table. Who finds it set can append nothing any more.
alter table forge.stream add column archive text collate "C" check (archive ~ '^[0-9a-f]{64}$');

alter table forge.listing add column archived boolean not null default false;
-- What may be archived, in the order in which it ended.
create index listing_ended on forge.listing (updated_at, ns, stream_id) where kind = 'run' and final and not archived;
