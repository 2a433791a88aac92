import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type EmbeddedServer, migrate, type PostgresConnection, startEmbedded } from "@forge/store-postgres";
import pg from "pg";

/** A database of this test's own. */
export interface TestDatabase {
  readonly connection: PostgresConnection;
  /** kill -9 of the server, and its start; of a server of DATABASE_URL, the end of every connection to the database. */
  crash(): Promise<void>;
  /** Runs a statement; answers how many rows it was about. */
  execute(statement: string): Promise<number>;
  close(): Promise<void>;
}

/** A fresh database on the server of DATABASE_URL, or on an embedded one where that is not set, with its schema. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const url = process.env["DATABASE_URL"];
  const database = url === undefined || url === "" ? await openEmbedded() : await openOnServer(url);
  await migrate(database.connection);
  return database;
}

async function openEmbedded(): Promise<TestDatabase> {
  const dataDirectory = await mkdtemp(path.join(tmpdir(), "forge-system-"));
  let server: EmbeddedServer = await startEmbedded({ dataDirectory });
  return {
    connection: server.connection,
    crash: async () => {
      process.kill(server.pid, "SIGKILL");
      await server.exited;
      await server.stop();
      server = await startEmbedded({ dataDirectory });
    },
    execute: (statement) => run(server.connection, statement),
    close: async () => {
      await server.stop();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

async function openOnServer(url: string): Promise<TestDatabase> {
  const name = `forge_system_${randomUUID().replaceAll("-", "")}`;
  const admin = { connectionString: url };
  await run(admin, `create database ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return {
    connection: { connectionString: own.href },
    crash: async () => void (await run(admin, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)),
    execute: (statement) => run({ connectionString: own.href }, statement),
    close: async () => void (await run(admin, `drop database ${name} with (force)`)),
  };
}

async function run(connection: PostgresConnection, statement: string): Promise<number> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return (await client.query(statement)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}
