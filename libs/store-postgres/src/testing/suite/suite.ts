import type { Store } from "@forge/engine/ports";
import pg from "pg";
import { afterAll, beforeAll, expect } from "vitest";
import { createPostgresStore } from "../../create-postgres-store.ts";
import { clientConfig, type PostgresConnection } from "../../database.ts";
import { migrate } from "../../migrate.ts";
import type { TestDatabase } from "../database.ts";

/** What the tests of a suite share; there from its beforeAll on. */
export interface Suite {
  /** Two replicas on one database. */
  readonly store: Store;
  readonly other: Store;
  /** The database itself, to see or to disturb what the port does not show. */
  readonly pool: pg.Pool;
  readonly connection: PostgresConnection;
}

/** Opens a migrated database with two stores for the tests of the describe block that calls it. */
export function useSuite(open: () => Promise<TestDatabase>): Suite {
  let suite: Suite | undefined;
  const cleanup = new AsyncDisposableStack();

  beforeAll(async () => {
    const database = await open();
    cleanup.defer(async () => await database.close());
    await migrate(database.connection);
    const pool = new pg.Pool({ ...clientConfig(database.connection), max: 4 });
    // Tests that kill backends kill this pool's as well.
    pool.on("error", () => undefined);
    cleanup.defer(async () => await pool.end());
    const [store, other] = [await createPostgresStore(database.connection), await createPostgresStore(database.connection)];
    cleanup.defer(async () => await store.close());
    cleanup.defer(async () => await other.close());
    suite = { store, other, pool, connection: database.connection };
  });
  afterAll(async () => await cleanup.disposeAsync());

  const opened = (): Suite => {
    if (suite === undefined) throw new Error("The suite is open only inside its tests.");
    return suite;
  };
  return {
    get store() {
      return opened().store;
    },
    get other() {
      return opened().other;
    },
    get pool() {
      return opened().pool;
    },
    get connection() {
      return opened().connection;
    },
  };
}

/** Appends and expects every outcome to be ok. */
export async function mustAppend(store: Store, ...appends: Parameters<Store["append"]>[0]): Promise<void> {
  expect(await store.append(appends)).toEqual(appends.map(() => ({ outcome: "ok" })));
}
