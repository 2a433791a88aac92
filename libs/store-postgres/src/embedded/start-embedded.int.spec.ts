import { existsSync } from "node:fs";
import { readdir, stat, symlink } from "node:fs/promises";
import path from "node:path";
import type { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmbeddedServer, startEmbedded } from "./start-embedded.ts";
import { ended, isAlive, makeDirectory, type Owner, query, removeDirectory, startOwner } from "./testing/processes.ts";

let directory: string;
let servers: EmbeddedServer[];
let owners: Owner[];

beforeEach(async () => {
  directory = await makeDirectory();
  servers = [];
  owners = [];
});

afterEach(async () => {
  for (const owner of owners) await owner.discard();
  for (const server of servers) await server.stop();
  await removeDirectory(directory);
});

async function start(dataDirectory: string, options: { signal?: AbortSignal; onProgress?(message: string): void } = {}): Promise<EmbeddedServer> {
  const server = await startEmbedded({ dataDirectory, ...options });
  servers.push(server);
  return server;
}

function own(dataDirectory: string): Owner {
  const owner = startOwner(dataDirectory);
  owners.push(owner);
  return owner;
}

test("a fresh directory becomes a durable UTF-8 database that only its owner reaches, and keeps its rows over a restart", async () => {
  const dataDirectory = path.join(directory, "project", ".forge", "data");
  const progress: string[] = [];
  const first = await start(dataDirectory, { onProgress: (message) => progress.push(message) });
  expect(progress).toEqual(["Creating the database (first start only)", "Starting the database"]);

  const [settings] = await query(
    first.connection,
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit, current_setting('listen_addresses') as listen_addresses,
       current_setting('server_encoding') as encoding, current_setting('TimeZone') as timezone, current_setting('max_connections') as max_connections,
       (select datlocprovider::text || ' ' || datlocale from pg_database where datname = current_database()) as locale, current_database() as database`,
  );
  expect(settings).toEqual({
    fsync: "on",
    synchronous_commit: "on",
    listen_addresses: "",
    encoding: "UTF8",
    timezone: "UTC",
    max_connections: "50",
    locale: "b C.UTF-8",
    database: "forge",
  });
  for (const guarded of [dataDirectory, path.join(dataDirectory, "postgres-18"), first.connection.host]) expect((await stat(guarded)).mode & 0o777).toBe(0o700);

  await query(first.connection, "create table kept (word text); insert into kept values ('grüße')");
  await Promise.all([first.stop(), first.stop()]);
  await first.stop();
  expect(await first.exited).toEqual({ code: 0, signal: null });
  expect(isAlive(first.pid)).toBe(false);
  expect(existsSync(first.connection.host)).toBe(false);

  progress.length = 0;
  const second = await start(dataDirectory, { onProgress: (message) => progress.push(message) });
  expect(progress).toEqual(["Starting the database"]);
  expect(second.connection).toEqual(first.connection);
  expect(await query(second.connection, "select word from kept")).toEqual([{ word: "grüße" }]);
});

test("a path of over two hundred bytes with blanks, quotes and letters of other scripts works, and a symbolic link to it is the same directory", async () => {
  const dataDirectory = path.join(directory, 'it\'s a "project", größer', "データ".repeat(20), "x".repeat(120));
  const link = path.join(directory, "link");
  const server = await start(dataDirectory);
  await symlink(dataDirectory, link);
  expect(Buffer.byteLength(dataDirectory)).toBeGreaterThan(300);
  expect(Buffer.byteLength(server.connection.host)).toBeLessThan(90);
  expect(await query(server.connection, "select 1 as one")).toEqual([{ one: 1 }]);
  await expect(startEmbedded({ dataDirectory: link })).rejects.toMatchObject({ reason: "DATA_DIRECTORY_IN_USE" });
});

test("of many starters at once exactly one gets the directory, and the others are told who has it", async () => {
  const dataDirectory = path.join(directory, "data");
  const other = own(dataDirectory);
  const attempts = await Promise.allSettled([other.started(), ...Array.from({ length: 8 }, () => start(dataDirectory))]);
  expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);

  const otherWon = attempts[0]?.status === "fulfilled";
  const winner = otherWon ? other.process.pid : process.pid;
  const refused = (await startEmbedded({ dataDirectory }).catch((error: unknown) => error)) as ForgeError;
  expect(refused).toMatchObject({ name: "ForgeError", code: ErrorCode.CONFLICT, reason: "DATA_DIRECTORY_IN_USE" });
  expect(refused.message).toContain(dataDirectory);
  expect(refused.message).toContain(otherWon ? `in use by process ${winner}` : `in use by this process (${winner})`);
  expect(refused.detail.metadata).toEqual({ data_directory: dataDirectory, pid: String(winner) });
});

test("another process is refused while the server runs, which it does not disturb, and gets the directory after stop", async () => {
  const dataDirectory = path.join(directory, "data");
  const server = await start(dataDirectory);
  const refused = await own(dataDirectory).failed();
  expect(refused).toMatchObject({ code: ErrorCode.CONFLICT, reason: "DATA_DIRECTORY_IN_USE" });
  expect(refused.message).toContain(`process ${process.pid}`);
  expect(await query(server.connection, "select 1 as one")).toEqual([{ one: 1 }]);

  await server.stop();
  const second = own(dataDirectory);
  const { pid, connection } = await second.started();
  expect(connection).toEqual(server.connection);
  expect(await second.end()).toBe(0);
  expect(isAlive(pid)).toBe(false);
});

test("a start that is cancelled in the middle leaves nothing, and the directory can be used", async () => {
  const dataDirectory = path.join(directory, "data");
  const cancel = new AbortController();
  const cancelled = startEmbedded({ dataDirectory, signal: cancel.signal, onProgress: () => setImmediate(() => cancel.abort()) });
  await expect(cancelled).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
  expect((await readdir(dataDirectory)).filter((entry) => entry.startsWith("postgres-18"))).toEqual([]);

  const whileStarting = new AbortController();
  const abortLater = (message: string): void => {
    if (message.startsWith("Starting")) setImmediate(() => whileStarting.abort());
  };
  await expect(startEmbedded({ dataDirectory, signal: whileStarting.signal, onProgress: abortLater })).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
  expect(existsSync(path.join(dataDirectory, "postgres-18", "postmaster.pid"))).toBe(false);

  const server = await start(dataDirectory);
  expect(await query(server.connection, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("a Ctrl-C at the owner's terminal does not reach the server", async () => {
  const owner = own(path.join(directory, "data"));
  const { pid, connection } = await owner.started();
  // A terminal signals the whole process group; the owner leads one.
  process.kill(-(owner.process.pid ?? 0), "SIGINT");
  expect(await owner.next()).toEqual({ interrupted: true });
  expect(isAlive(pid)).toBe(true);
  expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("variables for PostgreSQL's own clients do not change what is started or how it is reached", async () => {
  const before = { ...process.env };
  Object.assign(process.env, { PGDATA: "/nowhere", PGPORT: "1", PGHOST: "db.invalid", PGSSLMODE: "require" });
  try {
    const server = await start(path.join(directory, "data"));
    expect(await query(server.connection, "select current_setting('port') as port, current_database() as database")).toEqual([
      { port: "5432", database: "forge" },
    ]);
  } finally {
    for (const name of ["PGDATA", "PGPORT", "PGHOST", "PGSSLMODE"]) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
});

test("the server does not keep its owner alive, and ends with it", async () => {
  const owner = own(path.join(directory, "data"));
  const { pid } = await owner.started();
  expect(await owner.leave()).toBe(0);
  expect(await ended(pid)).toBe(true);
});
