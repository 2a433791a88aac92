import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { EmbeddedConnection, PostgresConnection } from "@forge/store-postgres";
import pg from "pg";
import { type BenchDatabase, openDatabase } from "../database.ts";
import { comparedRow, valueRow } from "../report/compare.ts";
import type { Row, Section } from "../report/row.ts";
import { type Fleet, startFleet } from "../server/fleet.ts";
import { quantile, type Round, ratePerSecond } from "../statistics.ts";
import { withinTime } from "../within-time.ts";
import { alternate } from "./alternate.ts";
import type { LoadScale } from "./scale.ts";
import { followSession, openSessions, write } from "./subject.ts";
import { turnLoad } from "./turn-load.ts";

const TITLE = "Behind PgBouncer in transaction mode";
const IN_FLIGHT = 32;
const PLACES = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];
/** Connections to PostgreSQL for all of its clients. */
const POOL_SIZE = 10;
const START_MS_MAX = 10_000;
const HEARD_MS_MAX = 10_000;
const HEARD = 50;

const NOTE =
  `${IN_FLIGHT} turns of demo/echo at once, directly on PostgreSQL and on another one through PgBouncer, which shares ${POOL_SIZE} connections, in rounds that take turns. Behind it the store prepares nothing by name and sets nothing, and listens for wake-ups ` +
  "on a connection past it: LISTEN through a pooler in transaction mode hears nothing. Migrations take a lock for a transaction, which works through it. An event elsewhere: written at one control plane, until a subscriber of another one has it.";

async function program(): Promise<string | undefined> {
  for (const place of PLACES) {
    const isThere = await access(place).then(
      () => true,
      () => false,
    );
    if (isThere) return place;
  }
  return undefined;
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  server.close();
  return port;
}

/** PgBouncer with settings of its own in front of a database; the stack ends it. */
async function startPooler(stack: AsyncDisposableStack, file: string, to: EmbeddedConnection): Promise<PostgresConnection> {
  const directory = await mkdtemp(path.join(tmpdir(), "forge-bench-pooler-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const port = await freePort();
  const settings = path.join(directory, "pgbouncer.ini");
  await writeFile(
    settings,
    [
      "[databases]",
      `forge = host=${to.host} port=${to.port} dbname=${to.database} user=${to.user}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = any",
      "pool_mode = transaction",
      `default_pool_size = ${POOL_SIZE}`,
      "log_connections = 0",
      "log_disconnections = 0",
      "log_stats = 0",
      "",
    ].join("\n"),
  );
  // It refuses to run as root, as PostgreSQL does; in a user namespace this user's files stay its own.
  const words = process.getuid?.() === 0 ? ["unshare", "--user", "--map-user=65534", "--map-group=65534", file] : [file];
  const child = spawn(words[0] as string, [...words.slice(1), "-q", settings], { stdio: ["ignore", "ignore", "inherit"] });
  stack.defer(() => stop(child));
  const connection = { host: "127.0.0.1", port, database: "forge", user: to.user };
  await withinTime(answers(connection, child), START_MS_MAX, "the start of PgBouncer");
  return connection;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

async function answers(connection: PostgresConnection, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`);
    const client = new pg.Client(connection);
    try {
      await client.connect();
      await client.query("select 1");
      return;
    } catch {
      // It does not listen yet; that it never does ends by the time.
      await delay(50);
    } finally {
      await client.end();
    }
  }
}

/** Milliseconds from a write at one control plane until a subscriber of another has its event, in ascending order. */
async function heardElsewhere(here: Fleet, there: Fleet): Promise<number[]> {
  const [sessionId] = (await openSessions(here.client, 1)) as [string];
  let onEvent = (): void => undefined;
  const follower = followSession(there.client, sessionId, () => onEvent());
  await follower.caughtUp;
  const ms: number[] = [];
  try {
    for (let index = 0; index < HEARD; index++) {
      const heard = new Promise<void>((resolve) => {
        onEvent = resolve;
      });
      const began = performance.now();
      await write(here.client, sessionId);
      await withinTime(Promise.race([heard, follower.broken]), HEARD_MS_MAX, "the event's way to the other control plane");
      ms.push(performance.now() - began);
    }
  } finally {
    follower.close();
  }
  return ms.toSorted((a, b) => a - b);
}

interface Taken {
  readonly round: Round;
  readonly elsewhereMs: readonly number[];
}

export async function measurePooler(scale: LoadScale, progress: (text: string) => void): Promise<Section> {
  const file = await program();
  if (file === undefined) return { title: TITLE, note: "Not measured: PgBouncer is not installed here (Debian's package `pgbouncer` has it).", rows: [] };
  await using cleanup = new AsyncDisposableStack();
  const open = async (isPooled: boolean): Promise<() => Promise<Taken>> => {
    const database: BenchDatabase = await openDatabase(2);
    cleanup.defer(() => database.close());
    const connection = isPooled ? await startPooler(cleanup, file, database.connection) : database.connection;
    const start = async (): Promise<Fleet> => {
      const fleet = await startFleet(connection, "inside", undefined, isPooled ? database.connection : undefined);
      cleanup.defer(() => fleet.close());
      return fleet;
    };
    const [here, there] = [await start(), await start()];
    return async () => {
      const [round] = (await turnLoad(database.pool, [here], IN_FLIGHT, scale.seconds)) as [Round];
      return { round, elsewhereMs: await heardElsewhere(here, there) };
    };
  };
  const taken = await alternate(scale.rounds, { direct: await open(false), pooled: await open(true) }, progress);
  const compared = (name: string, unit: Row["unit"], of: (one: Taken) => number): Row[] => [
    valueRow(`direct: ${name}`, unit, taken.direct.map(of)),
    comparedRow(`through PgBouncer: ${name}`, unit, taken.pooled.map(of), { name: "direct", values: taken.direct.map(of) }),
  ];
  return {
    title: TITLE,
    note: NOTE,
    rows: [
      ...compared("turns", "/s", ({ round }) => ratePerSecond(round)),
      ...compared("turn: p99", "ms", ({ round }) => quantile(round.latenciesMs, 0.99)),
      ...compared("an event elsewhere: p50", "ms", ({ elsewhereMs }) => quantile(elsewhereMs, 0.5)),
    ],
  };
}
