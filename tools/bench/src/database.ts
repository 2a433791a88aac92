import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type EmbeddedConnection, migrate, startEmbedded } from "@forge/store-postgres";
import pg from "pg";

/** A PostgreSQL of this measurement's own, as `forge up` starts it: it flushes every commit to the disk. */
export interface BenchDatabase {
  readonly connection: EmbeddedConnection;
  /** For baselines and checks. */
  readonly pool: pg.Pool;
  readonly serverVersion: string;
  close(): Promise<void>;
}

export async function openDatabase(connections: number): Promise<BenchDatabase> {
  const cleanup = new AsyncDisposableStack();
  try {
    const dataDirectory = await mkdtemp(path.join(tmpdir(), "forge-bench-"));
    cleanup.defer(() => rm(dataDirectory, { recursive: true, force: true }));
    const server = await startEmbedded({ dataDirectory });
    cleanup.defer(() => server.stop());
    await migrate(server.connection);
    const pool = new pg.Pool({ ...server.connection, max: connections, idleTimeoutMillis: 0 });
    // A connection that the server ends while it is idle has nothing left to fail; what ends under a statement fails with it.
    pool.on("error", () => undefined);
    cleanup.defer(() => pool.end());
    const settings = await pool.query<{ fsync: string; commit: string; version: string }>(
      "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit, current_setting('server_version') as version",
    );
    const [row] = settings.rows;
    if (row?.fsync !== "on" || row.commit !== "on") throw new Error("the database does not flush its commits: nothing measured on it would mean anything");
    return { connection: server.connection, pool, serverVersion: row.version, close: () => cleanup.disposeAsync() };
  } catch (error) {
    await cleanup.disposeAsync();
    throw error;
  }
}
