import pg from "pg";
import type { BenchDatabase } from "../database.ts";
import { Child } from "../server/child.ts";
import { peerProgram } from "./install.ts";
import type { RecoverablePeer } from "./peer.ts";

/** How a library that works in the application's process keeps its records in PostgreSQL. */
interface Library {
  readonly name: string;
  /** Also of its database. */
  readonly program: string;
  /** Throws unless the records hold these runs, each ended well after so many steps. */
  readonly check: (pool: pg.Pool, ids: readonly string[], steps: number) => Promise<void>;
  /** Runs that ended well. */
  readonly completed: string;
}

function expectRecords(ids: readonly string[], steps: number, row: { readonly runs: number; readonly steps: number } | undefined): void {
  if (row?.runs !== ids.length || row.steps !== ids.length * steps)
    throw new Error(`${ids.length} runs of ${steps} steps were counted, and the database holds ${JSON.stringify(row)}`);
}

export const DBOS: Library = {
  name: "DBOS Transact",
  program: "dbos",
  check: async (pool, ids, steps) => {
    const { rows } = await pool.query<{ runs: number; steps: number }>(
      `select (select count(*)::int from dbos.workflow_status where workflow_uuid = any($1) and status = 'SUCCESS') as runs,
         (select count(*)::int from dbos.operation_outputs where workflow_uuid = any($1) and error is null) as steps`,
      [ids],
    );
    expectRecords(ids, steps, rows[0]);
  },
  completed: "select count(*)::int as count from dbos.workflow_status where status = 'SUCCESS'",
};

// The input and the beginning have a checkpoint each beside the steps.
export const LANGGRAPH: Library = {
  name: "LangGraph.js",
  program: "langgraph",
  check: async (pool, ids, steps) => {
    const { rows } = await pool.query<{ runs: number; steps: number }>(
      `select count(*) filter (where (metadata->>'step')::int = $2)::int as runs, count(*) filter (where (metadata->>'step')::int > 0)::int as steps
       from public.checkpoints where thread_id = any($1)`,
      [ids, steps],
    );
    expectRecords(ids, steps, rows[0]);
  },
  completed: "select count(*)::int as count from public.checkpoints",
};

// What ended well is gone from the table; what was ever added is known from the sequence of ids.
export const GRAPHILE_WORKER: Library = {
  name: "graphile-worker",
  program: "graphile-worker",
  check: async (pool, ids, steps) => {
    const deadline = performance.now() + 5000;
    for (;;) {
      const { rows } = await pool.query<{ left: number; added: string | null }>(
        "select (select count(*)::int from graphile_worker._private_jobs) as left, (select max(last_value)::text from pg_sequences where schemaname = 'graphile_worker' and sequencename like '%jobs_id_seq%') as added",
      );
      const [row] = rows;
      if (row?.left === 0 && Number(row.added) >= ids.length && steps === 1) return;
      // A job is told to have ended just before its row is removed.
      if (performance.now() > deadline) throw new Error(`${ids.length} jobs were counted, and the database holds ${JSON.stringify(row)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  },
  completed: "select 0 as count",
};

// A run is an append, told by its stream and the version after it.
export const EMMETT: Library = {
  name: "Emmett",
  program: "emmett",
  check: async (pool, ids, steps) => {
    const { rows } = await pool.query<{ runs: number; steps: number }>(
      `select count(*)::int as runs, count(distinct m.message_id)::int as steps
       from unnest($1::text[]) as id join public.emt_messages m on m.stream_id = split_part(id, '/', 1) and m.stream_position = split_part(id, '/', 2)::bigint`,
      [ids],
    );
    expectRecords(ids, steps, rows[0]);
  },
  completed: "select count(*)::int as count from public.emt_messages",
};

// A run is a turn, told by its conversation: the question has a checkpoint, and so has the beginning and the answer.
export const LANGGRAPH_AGENT: Library = {
  name: "LangGraph.js agent",
  program: "langgraph-agent",
  check: async (pool, ids, steps) => {
    const { rows } = await pool.query<{ runs: number; steps: number }>(
      `select count(*) filter (where metadata->>'source' = 'input')::int as runs, (count(*) filter (where metadata->>'source' = 'loop') / 2)::int as steps
       from public.checkpoints where thread_id = any($1)`,
      [[...new Set(ids)]],
    );
    expectRecords(ids, steps, rows[0]);
  },
  completed: "select count(*)::int as count from public.checkpoints where metadata->>'source' = 'input'",
};

/** In a database of its own on the same server as everybody's. The first opening makes it. */
export async function openLibrary(library: Library, database: BenchDatabase, log?: string): Promise<RecoverablePeer> {
  const { name, program } = library;
  const databaseName = program.replaceAll("-", "_");
  const { connection } = database;
  const { rowCount } = await database.pool.query("select from pg_database where datname = $1", [databaseName]);
  if (rowCount === 0) await database.pool.query(`create database ${databaseName}`);
  const databaseUrl = `postgresql://${connection.user}@localhost/${databaseName}?host=${encodeURIComponent(connection.host)}&port=${connection.port}`;
  const open = () => Child.start<{ readonly type: "ready" }>(peerProgram(program), { databaseUrl, log });
  let child = await open();
  const pool = new pg.Pool({ ...connection, database: databaseName, max: 1 });
  pool.on("error", () => undefined);
  return {
    name,
    round: async ({ steps, ...load }) => {
      const { round, ids } = await child.ask({ type: "round", steps, ...load });
      await library.check(pool, ids, steps);
      return round;
    },
    start: async (ids, steps) => void (await child.ask({ type: "start", ids, steps })),
    kill: () => child.kill(),
    restart: async () => {
      child = await open();
    },
    completed: async () => {
      const { rows } = await pool.query<{ count: number }>(library.completed);
      return rows[0]?.count ?? 0;
    },
    close: async () => {
      await pool.end();
      await child.stop();
    },
  };
}
