import { once } from "node:events";
import { mkdir, readFile, stat } from "node:fs/promises";
import net from "node:net";
import path from "node:path";
import { type ConnectClient, commandHeader, createConnectClient, type ForgeClient, followEvents, withRetry } from "@forge/client";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { startEmbedded } from "@forge/store-postgres";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readAddress } from "./address-file.ts";
import { startProjectReader } from "./project-reader.ts";
import { type ProjectServer, type ProjectServerOptions, startProjectServer } from "./project-server.ts";
import { makeDirectory, removeDirectory } from "./testing/directory.ts";
import { tokenIn } from "./tokens.ts";

const TURN_ENDS: ReadonlySet<string> = new Set(["turn.completed", "turn.failed", "turn.cancelled", "turn.abandoned"]);

/** The longest that anything here may take. */
const PATIENCE_MS = 20_000;

const logger = pino({ level: "silent" });

function start(root: string, options: Partial<ProjectServerOptions> = {}): Promise<ProjectServer> {
  return startProjectServer({ root, environment: {}, logger, ...options });
}

/** Runs a turn of the demo model, over whatever happens meanwhile; answers the session and the kinds of its events. */
async function turn(client: ForgeClient): Promise<{ readonly sessionId: string; readonly kinds: readonly string[] }> {
  const create = { header: commandHeader(), agent: { model: "demo/echo" } };
  const { sessionId } = await withRetry(() => client.session.createSession(create));
  const startTurn = { header: commandHeader(), sessionId, input: [{ kind: { case: "text" as const, value: { text: "Hello." } } }] };
  await withRetry(() => client.session.startTurn(startTurn));
  const kinds: string[] = [];
  for await (const followed of followEvents(client, {
    streams: [{ stream: { kind: StreamKind.SESSION, id: sessionId } }],
    signal: AbortSignal.timeout(PATIENCE_MS),
  })) {
    if (followed.kind !== "event") continue;
    kinds.push(followed.event.kind);
    if (TURN_ENDS.has(followed.event.kind)) break;
  }
  return { sessionId, kinds };
}

describe("a project's server", () => {
  let root: string;
  let dataDirectory: string;
  let server: ProjectServer;
  let client: ConnectClient;

  beforeAll(async () => {
    root = await makeDirectory();
    dataDirectory = path.join(root, ".forge", "data");
    server = await start(root);
    client = createConnectClient({ url: server.url, token: server.token });
  });

  afterAll(async () => {
    await client.close();
    await server.close(0);
    await removeDirectory(root);
  });

  it("is found by the files beside its data, which nobody else may read and no repository keeps", async () => {
    expect(server.dataDirectory).toBe(dataDirectory);
    expect((await stat(dataDirectory)).mode & 0o777).toBe(0o700);
    expect(await readFile(path.join(dataDirectory, ".gitignore"), "utf8")).toBe("*\n");
    expect(await readAddress(dataDirectory)).toMatchObject({ url: server.url, pid: process.pid });
    expect(await tokenIn(dataDirectory, "token")).toBe(server.token);
  });

  it("runs turns for whoever holds its token, over the wire and in process", async () => {
    for (const one of [client, server.client]) {
      const { sessionId, kinds } = await turn(one);
      expect(kinds.at(-1)).toBe("turn.completed");
      expect((await client.session.getSessionSnapshot({ sessionId })).session?.sessionId).toBe(sessionId);
    }
  });

  it("answers nobody else", async () => {
    const stranger = createConnectClient({ url: server.url, token: "forge_0123456789012345678901234567890123456789012" });
    await expect(stranger.session.listSessions({})).rejects.toMatchObject({ code: ErrorCode.UNAUTHENTICATED });
    await expect(client.worker.register({ version: { major: 1 }, workerName: "intruder", queues: ["default"], slots: 1 })).rejects.toMatchObject({
      code: ErrorCode.PERMISSION_DENIED,
    });
    await stranger.close();
  });

  it("is idle while nobody follows it and nothing is to be done", async () => {
    const { sessionId } = await turn(client);
    await vi.waitFor(async () => expect(await server.idleMs()).toBeGreaterThan(0), PATIENCE_MS);
    const stop = new AbortController();
    const events = client.event.subscribeEvents({ streams: [{ stream: { kind: StreamKind.SESSION, id: sessionId } }] }, { signal: stop.signal });
    const stream = events[Symbol.asyncIterator]();
    await stream.next();
    expect(await server.idleMs()).toBe(0);
    stop.abort();
    await expect(stream.next()).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    await vi.waitFor(async () => expect(await server.idleMs()).toBeGreaterThan(0), PATIENCE_MS);
  });

  it("is the only one on its directory, and a second one's failure does not touch it", async () => {
    await expect(start(root)).rejects.toMatchObject({ code: ErrorCode.CONFLICT, reason: "DATA_DIRECTORY_IN_USE" });
    await expect(startProjectReader({ root, logger })).rejects.toMatchObject({ code: ErrorCode.CONFLICT, reason: "DATA_DIRECTORY_IN_USE" });
    expect(await readAddress(dataDirectory)).toMatchObject({ url: server.url });
    await client.session.listSessions({});
  });

  it("starts its database again when that is killed, and goes on", async () => {
    const file = path.join(dataDirectory, "postgres-18", "postmaster.pid");
    const pid = async () => Number((await readFile(file, "utf8").catch(() => "")).split("\n", 1)[0]);
    const killed = await pid();
    const before = await turn(client);
    process.kill(killed, "SIGKILL");
    expect((await turn(client)).kinds.at(-1)).toBe("turn.completed");
    expect(await pid()).not.toBe(killed);
    const { sessions } = await client.session.listSessions({});
    expect(sessions.map(({ sessionId }) => sessionId)).toContain(before.sessionId);
  });

  it("leaves an orderly place: its address goes first, then all of it, and the next one has everything, under the same token", async () => {
    const { sessionId } = await turn(client);
    await server.close(PATIENCE_MS);
    expect(await readAddress(dataDirectory)).toBeUndefined();
    await expect(client.session.listSessions({})).rejects.toMatchObject({ reason: "TRANSPORT" });
    await expect(server.client.session.listSessions({})).rejects.toMatchObject({ code: ErrorCode.CANCELLED });

    const reader = await startProjectReader({ root, logger });
    expect((await reader.client.session.getSessionSnapshot({ sessionId })).session?.sessionId).toBe(sessionId);
    await reader.close();

    const port = Number(new URL(server.url).port);
    const token = server.token;
    server = await start(root, { port });
    expect(server.token).toBe(token);
    expect((await client.session.getSessionSnapshot({ sessionId })).session?.sessionId).toBe(sessionId);
  });
});

describe("a project's server on a database that a URL names", () => {
  it("keeps nothing there but its token, lets readers in, and leaves the database running", async () => {
    const directory = await makeDirectory();
    const database = await startEmbedded({ dataDirectory: path.join(directory, "elsewhere") });
    const { user, host, port, database: name } = database.connection;
    const databaseUrl = `postgresql://${user}@${encodeURIComponent(host)}:${port}/${name}`;
    const root = path.join(directory, "project");
    try {
      await mkdir(root);
      const server = await start(root, { databaseUrl });
      try {
        const { sessionId, kinds } = await turn(server.client);
        expect(kinds.at(-1)).toBe("turn.completed");
        await expect(start(root, { databaseUrl })).rejects.toMatchObject({ reason: "DATA_DIRECTORY_IN_USE" });
        const reader = await startProjectReader({ root, databaseUrl, logger });
        expect((await reader.client.session.getSessionSnapshot({ sessionId })).session?.sessionId).toBe(sessionId);
        await reader.close();
        await expect(stat(path.join(server.dataDirectory, "postgres-18"))).rejects.toMatchObject({ code: "ENOENT" });
      } finally {
        await server.close(0);
      }
      const again = await start(root, { databaseUrl });
      expect((await again.client.session.listSessions({})).sessions).toHaveLength(1);
      await again.close(0);
    } finally {
      await database.stop();
      await removeDirectory(directory);
    }
  });
});

describe("a server that can't start", () => {
  it("because its port is taken says so, and keeps nobody out afterwards", async () => {
    const root = await makeDirectory();
    const holder = net.createServer();
    holder.listen(0, "127.0.0.1");
    await once(holder, "listening");
    const { port } = holder.address() as net.AddressInfo;
    await expect(start(root, { port })).rejects.toMatchObject({ code: ErrorCode.CONFLICT, reason: "PORT_IN_USE" });
    expect(await readAddress(path.join(root, ".forge", "data"))).toBeUndefined();
    holder.close();
    await once(holder, "close");
    const server = await start(root, { port });
    expect(new URL(server.url).port).toBe(String(port));
    await server.close(0);
    await removeDirectory(root);
  });
});
