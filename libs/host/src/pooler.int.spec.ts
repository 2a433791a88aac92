import path from "node:path";
import { commandHeader, followEvents } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import { startEmbedded } from "@forge/store-postgres";
import pino from "pino";
import { expect, test } from "vitest";
import { startProjectServer } from "./project-server.ts";
import { startDatabaseProxy } from "./testing/database-proxy.ts";
import { makeDirectory, removeDirectory } from "./testing/directory.ts";

const PATIENCE_MS = 20_000;
const logger = pino({ level: "silent" });

test("a server behind a pooler in transaction mode leaves nothing in its connections, and listens past it", async () => {
  await using cleanup = new AsyncDisposableStack();
  const directory = await makeDirectory();
  cleanup.defer(() => removeDirectory(directory));
  const database = await startEmbedded({ dataDirectory: path.join(directory, "database") });
  cleanup.defer(() => database.stop());
  const { user, host, port, database: name } = database.connection;
  const pooler = await startDatabaseProxy(path.join(host, `.s.PGSQL.${port}`));
  cleanup.defer(() => pooler.close());
  const databaseUrl = `postgresql://${user}@127.0.0.1:${pooler.port}/${name}`;
  const databaseDirectUrl = `postgresql://${user}@${encodeURIComponent(host)}:${port}/${name}`;

  const runTurn = async (root: string, urls: { databaseUrl: string; databaseDirectUrl?: string }) => {
    const server = await startProjectServer({ root: path.join(directory, root), environment: {}, logger, ...urls });
    try {
      const { session } = server.client;
      const { sessionId } = await session.createSession({ header: commandHeader(), agent: { model: "demo/echo" } });
      await session.startTurn({ header: commandHeader(), sessionId, input: [{ kind: { case: "text", value: { text: "Hello." } } }] });
      const streams = [{ stream: { kind: StreamKind.SESSION, id: sessionId } }];
      for await (const followed of followEvents(server.client, { streams, signal: AbortSignal.timeout(PATIENCE_MS) })) {
        if (followed.kind === "event" && followed.event.kind === "turn.completed") return;
      }
      throw new Error("the turn did not end");
    } finally {
      await server.close(0);
    }
  };

  await runTurn("behind", { databaseUrl, databaseDirectUrl });
  expect(pooler.connections()).toBeGreaterThan(2);
  expect(pooler.kept).toEqual([]);

  // As it is without one: this is what would be lost.
  await runTurn("without", { databaseUrl });
  expect(pooler.kept).toContain("listen");
  expect(pooler.kept.some((kept) => kept.startsWith("prepare "))).toBe(true);
});
