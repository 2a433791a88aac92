import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { poll } from "./poll.ts";
import { type EmbeddedServer, startEmbedded } from "./start-embedded.ts";
import { ended, isAlive, makeDirectory, NOBODY, type Owner, query, removeDirectory, startOwner, whyNotAs } from "./testing/processes.ts";

const isRoot = process.getuid?.() === 0;

let directory: string;
let dataDirectory: string;
let servers: EmbeddedServer[];
let owners: Owner[];

beforeEach(async () => {
  directory = await makeDirectory();
  dataDirectory = path.join(directory, "data");
  servers = [];
  owners = [];
});

afterEach(async () => {
  for (const owner of owners) await owner.discard();
  for (const server of servers) await server.stop();
  await removeDirectory(directory);
});

async function start(): Promise<EmbeddedServer> {
  const server = await startEmbedded({ dataDirectory });
  servers.push(server);
  return server;
}

function own(...args: Parameters<typeof startOwner>): Owner {
  const owner = startOwner(...args);
  owners.push(owner);
  return owner;
}

describe("after kill -9 of the owner no server is left behind, and what was committed is there at the next start", () => {
  const ways = isRoot
    ? [
        { launcher: "user-namespace", kind: "user-namespace" },
        { launcher: "unprivileged-user", kind: "unprivileged-user" },
        { launcher: "chosen", kind: "direct", uid: NOBODY },
        { launcher: "watchdog", kind: "direct", uid: NOBODY },
      ]
    : [
        { launcher: "chosen", kind: "direct" },
        { launcher: "watchdog", kind: "direct" },
      ];
  test.for<{ launcher: string; kind: string; uid?: number }>(ways)("$launcher as user $uid", async ({ launcher, kind, uid }, { skip }) => {
    const whyNot = uid === undefined ? undefined : whyNotAs(uid);
    if (whyNot !== undefined) skip(whyNot);
    const parent = await makeDirectory(uid);
    try {
      const first = own(path.join(parent, "data"), launcher, { uid });
      const { pid, connection, launcher: used } = await first.started();
      expect(used).toBe(kind);
      await query(connection, "create table kept (n int); insert into kept values (1)");
      await first.kill();
      expect(await ended(pid)).toBe(true);

      const second = own(path.join(parent, "data"), launcher, { uid });
      const again = await second.started();
      expect(await query(again.connection, "select n from kept")).toEqual([{ n: 1 }]);
      expect(await second.end()).toBe(0);
      expect(isAlive(again.pid)).toBe(false);
    } finally {
      await removeDirectory(parent);
    }
  });
});

test("a start in the very moment of the owner's death works, however often", async () => {
  for (let n = 1; n <= 5; n += 1) {
    const owner = own(dataDirectory);
    const { connection } = await owner.started();
    await query(connection, `create table if not exists kept (n int); insert into kept values (${n})`);
    await owner.kill();
  }
  const server = await start();
  expect(await query(server.connection, "select n from kept order by n")).toEqual([1, 2, 3, 4, 5].map((n) => ({ n })));
});

test("an owner killed at any moment of starting leaves no server behind", async () => {
  await (await start()).stop();
  for (let progressLines = 0; progressLines < 12; progressLines += 1) {
    const owner = own(dataDirectory);
    // The line comes right before the server is spawned; each round kills a little later.
    await owner.next();
    const end = performance.now() + progressLines * 2;
    await poll(async () => performance.now() >= end, { deadlineMs: 1_000, intervalMs: 1 });
    await owner.kill();
    const pid = Number((await readFile(path.join(dataDirectory, "postgres-18", "postmaster.pid"), "utf8").catch(() => "")).split("\n")[0]);
    if (pid > 0) expect(await ended(pid)).toBe(true);
  }
  const server = await start();
  expect(await query(server.connection, "select 1 as one")).toEqual([{ one: 1 }]);
});

test.runIf(isRoot)("a server that never learned of its owner's death is ended and replaced by the next start", async () => {
  const owner = own(dataDirectory, "deaf");
  const orphan = await owner.started();
  await query(orphan.connection, "create table kept (n int); insert into kept values (1)");
  await owner.kill();
  expect(await query(orphan.connection, "select n from kept")).toEqual([{ n: 1 }]);

  const server = await start();
  expect(isAlive(orphan.pid)).toBe(false);
  expect(server.pid).not.toBe(orphan.pid);
  expect(await query(server.connection, "select n from kept")).toEqual([{ n: 1 }]);
});

test("kill -9 of the server is noticed, and it starts again although a statement of the dead one still runs", async () => {
  const server = await start();
  await query(server.connection, "create table kept (n int); insert into kept values (1)");
  // It computes for about a second and does not look up meanwhile.
  const busy = query(server.connection, "select sum(n) from generate_series(1, 5000000) n").catch(() => "broken off");
  await poll(async () => (await query(server.connection, "select from pg_stat_activity where query like 'select sum%'")).length > 0, { deadlineMs: 5_000 });
  process.kill(server.pid, "SIGKILL");
  expect(await server.exited).toEqual({ code: null, signal: "SIGKILL" });
  await server.stop();

  const again = await start();
  expect(again.connection).toEqual(server.connection);
  expect(await query(again.connection, "select n from kept")).toEqual([{ n: 1 }]);
  await busy;
});

test("an interrupted first start leaves nothing half-done", async () => {
  const owner = own(dataDirectory);
  const unfinished = async (): Promise<string[]> => (await readdir(dataDirectory).catch(() => [])).filter((entry) => entry.startsWith("postgres-18.new-"));
  const begun = async (): Promise<boolean> => {
    const [entry] = await unfinished();
    return entry !== undefined && (await readdir(path.join(dataDirectory, entry))).includes("PG_VERSION");
  };
  expect(await poll(begun, { deadlineMs: 10_000, intervalMs: 1 })).toBe(true);
  await owner.kill();
  expect(await readdir(dataDirectory)).not.toContain("postgres-18");

  const server = await start();
  expect(await unfinished()).toEqual([]);
  expect(await query(server.connection, "select 1 as one")).toEqual([{ one: 1 }]);
});

describe("a process id file that a crash left does not hinder the next start", () => {
  const left = async (change: (text: string) => string): Promise<void> => {
    const server = await start();
    process.kill(server.pid, "SIGKILL");
    await server.exited;
    await server.stop();
    const file = path.join(dataDirectory, "postgres-18", "postmaster.pid");
    await writeFile(file, change(await readFile(file, "utf8")));
  };

  test("when its number now belongs to a living process of the same user", async () => {
    // Not this process: a server does not mind its parent's number.
    await left((text) => text.replace(/^\d+/, String(process.ppid)));
    expect(await query((await start()).connection, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("when it is empty", async () => {
    await left(() => "");
    expect(await query((await start()).connection, "select 1 as one")).toEqual([{ one: 1 }]);
  });
});
