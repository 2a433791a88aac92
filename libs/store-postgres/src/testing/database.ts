import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { clientConfig, type PostgresConnection } from "../database.ts";
import { startEmbedded } from "../embedded/start-embedded.ts";

/** An empty database that nobody else uses. */
export interface TestDatabase {
  readonly connection: PostgresConnection;
  /** Removes it, and stops the server that was started for it. */
  close(): Promise<void>;
}

/** A fresh database on the server of DATABASE_URL, or on an embedded one where that is not set. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const url = process.env.DATABASE_URL;
  return url === undefined || url === "" ? await openEmbeddedDatabase() : await openServerDatabase(url);
}

/** Every kind of server that can be tested here. */
export function testDatabases(): readonly { readonly name: string; readonly open: () => Promise<TestDatabase> }[] {
  const url = process.env.DATABASE_URL;
  const embedded = { name: "embedded server", open: openEmbeddedDatabase };
  return url === undefined || url === "" ? [embedded] : [embedded, { name: "server of DATABASE_URL", open: async () => await openServerDatabase(url) }];
}

async function openEmbeddedDatabase(): Promise<TestDatabase> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "forge-test-"));
  const remove = async (): Promise<void> => await rm(dataDirectory, { recursive: true, force: true });
  try {
    const server = await startEmbedded({ dataDirectory });
    return {
      connection: server.connection,
      close: async () => {
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function openServerDatabase(url: string): Promise<TestDatabase> {
  const name = `forge_test_${randomUUID().replaceAll("-", "")}`;
  await execute(url, `create database ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { connection: { connectionString: own.href }, close: async () => await execute(url, `drop database ${name} with (force)`) };
}

async function execute(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client(clientConfig({ connectionString }));
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
