import type { EventFormatsInUse } from "@forge/engine/ports";
import { sql } from "kysely";
import type { Database } from "./database.ts";

interface FormatsRow {
  readonly written: number;
  readonly read_by_all: number | null;
  readonly ids: string[];
}

/**
 * Says that a control plane lives and what it reads, for so long. Answers with the newest event format that may have been written, read only after its row is there: who
 * announces a format afterwards finds the row.
 */
export async function keepReplica(database: Database, replica: { id: string; reads: number; ttlMs: number }): Promise<EventFormatsInUse> {
  await database.run(
    "forge_keep_replica",
    sql`
    with gone as (
      delete from forge.replica where id in (select r.id from forge.replica r where r.alive_until <= now() and r.id <> ${replica.id} for update skip locked)
    )
    insert into forge.replica (id, reads, alive_until) values (${replica.id}, ${replica.reads}::int, now() + ${replica.ttlMs}::float8 * interval '1 millisecond')
    on conflict (id) do update set reads = excluded.reads, alive_until = excluded.alive_until`,
  );
  return await eventFormats(database);
}

/** Announces that a format may be written from now on; whether every live control plane reads it, looked at after the announcement, is in the answer. */
export async function announceFormat(database: Database, format: number): Promise<EventFormatsInUse> {
  await database.run(undefined, sql`update forge.event_format set written = ${format}::int where written < ${format}::int`);
  return await eventFormats(database);
}

export async function dropReplica(database: Database, id: string): Promise<void> {
  await database.run(undefined, sql`delete from forge.replica where id = ${id}`);
}

export async function eventFormats(database: Database): Promise<EventFormatsInUse> {
  const [row] = await database.run<FormatsRow>(
    "forge_event_formats",
    sql`
    select f.written, r.read_by_all, r.ids from forge.event_format f cross join (
      select min(reads) as read_by_all, coalesce(array_agg(id order by id), '{}') as ids from forge.replica where alive_until > now()
    ) r`,
  );
  const { written, read_by_all: readByAll, ids: replicas } = row as FormatsRow;
  return { written, readByAll: readByAll ?? written, replicas };
}
