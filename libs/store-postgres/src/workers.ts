import type { StoredWorker } from "@forge/engine/ports";
import { sql } from "kysely";
import type { Database } from "./database.ts";

interface WorkerRow {
  readonly session_id: string;
  readonly ns: string;
  readonly name: string;
  readonly principal: string;
  readonly queues: string[];
  readonly capabilities: Buffer[];
  readonly slots: number;
  readonly draining: boolean;
}

/** A worker that comes back under its name replaces its earlier sessions; the name of another principal's live worker it may not take. */
export async function saveWorker(database: Database, worker: StoredWorker, ttlMs: number): Promise<{ replaced: readonly string[] } | undefined> {
  const rows = await database.run<{ session_id: string | null; taken: boolean }>(
    "forge_save_worker",
    sql`
    with taken as materialized (
      select exists (
        select from forge.worker w where w.ns = ${worker.namespace} and w.name = ${worker.name} and w.principal <> ${worker.principal} and w.alive_until > now()
      ) as yes
    ),
    replaced as (
      delete from forge.worker where session_id in (
        select w.session_id from forge.worker w
        where w.ns = ${worker.namespace} and w.name = ${worker.name} and w.session_id <> ${worker.sessionId} and not (select yes from taken) order by w.session_id for update
      ) returning session_id
    ),
    saved as (
      insert into forge.worker (session_id, ns, name, principal, queues, capabilities, slots, draining, alive_until)
      select ${worker.sessionId}, ${worker.namespace}, ${worker.name}, ${worker.principal}, ${[...worker.queues]}::text[], ${[...worker.capabilities]}::bytea[],
        ${worker.slots}::int, ${worker.draining}::bool, now() + ${ttlMs}::float8 * interval '1 millisecond'
      from taken where not taken.yes
      on conflict (session_id) do update set
        ns = excluded.ns, name = excluded.name, principal = excluded.principal, queues = excluded.queues, capabilities = excluded.capabilities,
        slots = excluded.slots, draining = excluded.draining, alive_until = excluded.alive_until
    )
    select replaced.session_id, taken.yes as taken from taken left join replaced on true`,
  );
  if (rows[0]?.taken === true) return undefined;
  return { replaced: rows.flatMap((row) => row.session_id ?? []) };
}

export async function liveWorkers(database: Database, namespace: string): Promise<readonly StoredWorker[]> {
  const rows = await database.run<WorkerRow>(
    "forge_live_workers",
    sql`
    select session_id, ns, name, principal, queues, capabilities, slots, draining from forge.worker
    where ns = ${namespace} and alive_until > now() order by name, session_id`,
  );
  return rows.map(({ session_id: sessionId, ns, ...rest }) => ({ sessionId, namespace: ns, ...rest }));
}

/** Whether there is such a worker. */
export async function drainWorker(database: Database, sessionId: string): Promise<boolean> {
  const rows = await database.run<{ session_id: string }>(
    undefined,
    sql`update forge.worker set draining = true where session_id = ${sessionId} returning session_id`,
  );
  return rows.length > 0;
}

export async function removeDeadWorkers(database: Database): Promise<readonly string[]> {
  const rows = await database.run<{ session_id: string }>(
    "forge_dead_workers",
    sql`
    delete from forge.worker where session_id in (select w.session_id from forge.worker w where w.alive_until <= now() for update skip locked)
    returning session_id`,
  );
  return rows.map((row) => row.session_id);
}
