import { commandHeader, type ForgeClient } from "@forge/client";
import { OnError } from "@forge/protocol/workflow";
import type { PostgresConnection } from "@forge/store-postgres";
import { copyStream } from "../copy-streams.ts";
import { type BenchDatabase, openDatabase } from "../database.ts";
import type { Row, Section } from "../report/row.ts";
import { type Fleet, startFleet } from "../server/fleet.ts";
import { alternate } from "./alternate.ts";
import { type CommandCost, commandCost, growthRows } from "./command-cost.ts";
import { openLocal } from "./local-control-plane.ts";
import type { LoadScale } from "./scale.ts";
import { checkWrites, openSessions, write, writeMany } from "./subject.ts";

type Progress = (text: string) => void;

/** Of the sessions that are created among many others, writes to each. */
const WRITES = 9;
const SIGNAL_BYTES_MAX = 60_000;

const NOTE =
  "One command after the other, in rounds that take turns among the sizes. A store that grows holds copies of a session, made by statements, beside which sessions are created and written to nine times each. A stream that grows is a " +
  "session that was written to so often. A state that grows is that of a run which waits and keeps signals that nobody has taken; it is paused and continued. Processor time is the control plane's and, beside it, all of PostgreSQL's; " +
  "statements and log include what happens by the clock.";

async function inStores(stack: AsyncDisposableStack, { streams, rounds, commands }: LoadScale, progress: Progress): Promise<Row[]> {
  const taken: Record<string, () => Promise<CommandCost>> = {};
  for (const count of streams) {
    const database = await openDatabase(2);
    stack.defer(() => database.close());
    const fleet = await startFleet(database.connection, "inside");
    stack.defer(() => fleet.close());
    const [template] = (await openSessions(fleet.client, 1)) as [string];
    await copyStream(database.pool, template, count - 1, Number.POSITIVE_INFINITY, progress);
    const { rows } = await database.pool.query<{ count: number }>("select count(*)::int as count from forge.stream");
    if (rows[0]?.count !== count) throw new Error(`${count} streams were made, and the database holds ${rows[0]?.count}`);
    taken[`${count} streams`] = () => createAndWrite(database, fleet, commands);
  }
  return growthRows("a command", await alternate(rounds, taken, progress));
}

async function createAndWrite({ pool }: BenchDatabase, fleet: Fleet, commands: number): Promise<CommandCost> {
  const created: string[] = [];
  let written = WRITES;
  const cost = await commandCost(pool, fleet, commands, async () => {
    if (written === WRITES) {
      created.push(...(await openSessions(fleet.client, 1)));
      written = 0;
      return;
    }
    await write(fleet.client, created.at(-1) as string);
    written++;
  });
  await checkWrites(pool, created, commands - created.length);
  return cost;
}

/**
 * Sessions that were written to so often. They are written to without a wire, by which so many events would take minutes; and all that took part is gone afterwards, because a control plane that has
 * just heard of another one tells it of each append.
 */
async function makeSessions(connection: PostgresConnection, events: readonly number[]): Promise<readonly string[]> {
  await using cleanup = new AsyncDisposableStack();
  const fleet = await startFleet(connection, "inside");
  cleanup.defer(() => fleet.close());
  const sessions = await openSessions(fleet.client, events.length);
  const local = await openLocal(cleanup, connection, events.length);
  for (const [index, count] of events.entries()) await writeMany(local, sessions[index] as string, count - 1);
  return sessions;
}

async function onStreams(
  { pool }: BenchDatabase,
  fleet: Fleet,
  sessions: readonly string[],
  { events, rounds, commands }: LoadScale,
  progress: Progress,
): Promise<Row[]> {
  const taken = events.map(
    (count, index) => [`${count} events`, () => commandCost(pool, fleet, commands, () => write(fleet.client, sessions[index] as string))] as const,
  );
  const rows = growthRows("a command", await alternate(rounds, Object.fromEntries(taken), progress));
  await checkWrites(pool, sessions, events.reduce((sum, count) => sum + count - 1, 0) + events.length * commands * (rounds + 1));
  return rows;
}

/** A run that waits, and whose state holds so many bytes of signals. */
async function openRun({ workflow }: ForgeClient, bytes: number): Promise<string> {
  const definition = {
    id: "bench_wait",
    version: "v1",
    onError: OnError.FAIL_FAST,
    steps: [{ id: "wait", kind: { case: "wait" as const, value: { kind: { case: "signal" as const, value: "go" } } } }],
  };
  const { runId } = await workflow.startRun({ header: commandHeader(), definition });
  for (let held = 0; held < bytes; held += SIGNAL_BYTES_MAX) {
    const json = JSON.stringify("x".repeat(Math.min(SIGNAL_BYTES_MAX, bytes - held)));
    await workflow.signalRun({ header: commandHeader(), runId, name: "kept", payload: { kind: { case: "json", value: json } } });
  }
  return runId;
}

async function onStates({ pool }: BenchDatabase, fleet: Fleet, { stateBytes, rounds, commands }: LoadScale, progress: Progress): Promise<Row[]> {
  const { client } = fleet;
  const runs = await Promise.all(stateBytes.map((bytes) => openRun(client, bytes)));
  const toggle = async (runId: string): Promise<CommandCost> => {
    let isPaused = false;
    return await commandCost(pool, fleet, commands, async () => {
      await (isPaused ? client.workflow.continueRun({ header: commandHeader(), runId }) : client.workflow.pauseRun({ header: commandHeader(), runId }));
      isPaused = !isPaused;
    });
  };
  const taken = stateBytes.map((bytes, index) => [`state of ${bytes / 1000} KB`, () => toggle(runs[index] as string)] as const);
  const rows = growthRows("a command", await alternate(rounds, Object.fromEntries(taken), progress));
  const { rows: held } = await pool.query<{ count: number }>(
    "select count(*)::int as count from forge.event where stream_id = any($1::uuid[]) and kind in ('run.paused', 'run.continued')",
    [runs],
  );
  const expected = stateBytes.length * commands * (rounds + 1);
  if (held[0]?.count !== expected) throw new Error(`runs were paused and continued ${expected} times, and the database holds ${held[0]?.count}`);
  return rows;
}

export async function measureStreams(scale: LoadScale, progress: Progress): Promise<Section> {
  const rows: Row[] = [];
  {
    await using stores = new AsyncDisposableStack();
    rows.push(...(await inStores(stores, scale, progress)));
  }
  await using cleanup = new AsyncDisposableStack();
  const database = await openDatabase(2);
  cleanup.defer(() => database.close());
  const sessions = await makeSessions(database.connection, scale.events);
  progress(`  streams of ${scale.events.join(", ")} events`);
  const fleet = await startFleet(database.connection, "inside");
  cleanup.defer(() => fleet.close());
  rows.push(...(await onStreams(database, fleet, sessions, scale, progress)), ...(await onStates(database, fleet, scale, progress)));
  return { title: "Growth", note: NOTE, rows };
}
