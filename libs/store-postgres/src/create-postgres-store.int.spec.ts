import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ErrorCode } from "@forge/protocol/common";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPostgresStore } from "./create-postgres-store.ts";
import { clientConfig } from "./database.ts";
import { startEmbedded } from "./embedded/start-embedded.ts";
import { migrate } from "./migrate.ts";
import { aCommand, anAppend, aTask, newNamespace, newStreamId } from "./testing/builders.ts";
import { openTestDatabase, type TestDatabase } from "./testing/database.ts";
import { Peers } from "./wakeups/peers.ts";
import { WakeupSender } from "./wakeups/sender.ts";

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await openTestDatabase();
  await migrate(database.connection);
  client = new pg.Client(clientConfig(database.connection));
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await database?.close();
});

/** What the server is told of connections of stores at this moment. */
async function connections(): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    "select count(*) as count from pg_stat_activity where datname = current_database() and application_name like 'forge%' and pid <> pg_backend_pid()",
  );
  return rows[0]?.count ?? 0;
}

describe("createPostgresStore", () => {
  it("works without named statements and session settings, as behind a pooler in transaction mode", async () => {
    const store = await createPostgresStore({ ...database.connection, namedStatements: false });
    const [namespace, streamId] = [newNamespace(), newStreamId()];
    const command = aCommand(1);
    const append = anAppend({ namespace, streamId, expectedSeq: 0, commands: [command], addTasks: [aTask({ key: "t" })] });
    expect(await store.append([append])).toEqual([{ outcome: "ok" }]);
    expect(await store.append([append])).toEqual([{ outcome: "seen" }]);
    expect((await store.load(namespace, streamId, 1))?.seq).toBe(1);
    expect(await store.leaseTasks({ namespace, routes: ["default tool:echo"], owner: "w", ttlMs: 1_000, limit: 1 })).toHaveLength(1);
    await store.close();
  });

  it("listens where it is told to, and does everything else where it is connected", async () => {
    // Another database of the server: what is told there is heard only by who listens there.
    const elsewhere = { ...database.connection, database: "postgres" };
    const store = await createPostgresStore({ ...database.connection, listenOn: elsewhere });
    const heard: string[] = [];
    await store.listen(
      (wakeups) => heard.push(...wakeups.map(({ streamId }) => streamId)),
      () => undefined,
      new AbortController().signal,
    );
    const other = new WakeupSender("other", elsewhere, true, new Peers(() => 0));
    const [namespace, streamId] = [newNamespace(), newStreamId()];
    expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 0 })])).toEqual([{ outcome: "ok" }]);
    other.wake([{ namespace, streamId, seq: 1, routes: [] }]);
    await expect.poll(() => heard).toEqual([streamId]);
    expect((await store.load(namespace, streamId, 1))?.seq).toBe(1);
    await other.close();
    await store.close();
  });

  it("holds a bounded number of connections under load, and none after it is closed, however often", async () => {
    const store = await createPostgresStore(database.connection);
    await store.listen(
      () => undefined,
      () => undefined,
      new AbortController().signal,
    );
    const namespace = newNamespace();
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const streamId = newStreamId();
        expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 0 })])).toEqual([{ outcome: "ok" }]);
        store.wake([{ namespace, streamId, seq: 1, routes: [] }]);
        expect(await store.load(namespace, streamId, 1)).toBeDefined();
      }),
    );
    const during = await connections();
    expect(during).toBeGreaterThan(3);
    expect(during).toBeLessThanOrEqual(10);
    await Promise.all([store.close(), store.close()]);
    await expect.poll(connections).toBe(0);
  });

  it("rejects with storage_error what needs a server that is gone, and works again when it is back", async () => {
    await expect(createPostgresStore({ connectionString: "postgres://nobody@127.0.0.1:1/none" })).rejects.toMatchObject({ code: ErrorCode.STORAGE_ERROR });

    const dataDirectory = await mkdtemp(join(tmpdir(), "forge-test-"));
    let server = await startEmbedded({ dataDirectory });
    try {
      await migrate(server.connection);
      const store = await createPostgresStore(server.connection);
      let reconnects = 0;
      await store.listen(
        () => undefined,
        () => reconnects++,
        new AbortController().signal,
      );
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 0 })])).toEqual([{ outcome: "ok" }]);

      await server.stop();
      await expect(store.append([anAppend({ namespace, streamId, expectedSeq: 1 })])).rejects.toMatchObject({ code: ErrorCode.STORAGE_ERROR });
      await expect(store.load(namespace, streamId, 1)).rejects.toMatchObject({ code: ErrorCode.STORAGE_ERROR });
      server = await startEmbedded({ dataDirectory });
      expect((await store.load(namespace, streamId, 1))?.seq).toBe(1);
      expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 1 })])).toEqual([{ outcome: "ok" }]);
      await expect.poll(() => reconnects, { timeout: 20_000 }).toBe(1);
      await store.close();
    } finally {
      await server.stop();
      await rm(dataDirectory, { recursive: true, force: true });
    }
  });
});
