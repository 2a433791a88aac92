import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type BenchDatabase, openDatabase } from "../database.ts";
import { describeMachine, type Machine } from "../machine.ts";
import type { Section } from "../report/row.ts";
import { startFleet } from "../server/fleet.ts";
import { measureAppendsBeside, openAppends } from "./appends.ts";
import { measureDurableSteps } from "./durable-steps.ts";
import { measureFinishedRuns } from "./finished-runs.ts";
import { forgeRounds, openForge } from "./forge-peer.ts";
import { measureGrowth } from "./growth.ts";
import { installPeers } from "./install.ts";
import { DBOS, EMMETT, GRAPHILE_WORKER, LANGGRAPH, LANGGRAPH_AGENT, openLibrary } from "./library-peer.ts";
import { measureOpenWaits } from "./open-waits.ts";
import type { Peer } from "./peer.ts";
import { measureRecovery } from "./recovery.ts";
import { openRestate } from "./restate-peer.ts";
import { failure, openPeers } from "./rounds.ts";
import { measureRunLatency } from "./run-latency.ts";
import { PEERS_MS_MAX, type PeerScale } from "./scale.ts";
import { measureTurnLatency, openTurns } from "./turn-latency.ts";

export const PEER_SECTIONS = ["appends", "steps", "latency", "turn", "recovery", "growth", "finished"] as const;
export type PeerSection = (typeof PEER_SECTIONS)[number];

type Progress = (text: string) => void;

/** Everybody on one server, whose databases are told apart; those that do not serve the section's purpose are idle. */
async function measureSteady(wanted: (name: PeerSection) => boolean, scale: PeerScale, until: number, progress: Progress): Promise<readonly Section[]> {
  const sections: Section[] = [];
  await using cleanup = new AsyncDisposableStack();
  const database = await openDatabase(2);
  cleanup.defer(() => database.close());
  const { peers, failures } = await openPeers(
    [
      { name: "Forge", open: () => openForge(database) },
      { name: DBOS.name, open: () => openLibrary(DBOS, database) },
      { name: LANGGRAPH.name, open: () => openLibrary(LANGGRAPH, database) },
      { name: "Restate", open: () => openRestate() },
    ],
    progress,
  );
  for (const peer of peers) cleanup.defer(() => peer.close());
  const told = (section: Section): Section => ({ ...section, note: [section.note, ...failures].join(" ") });
  if (wanted("steps")) {
    progress("durable steps beside others");
    sections.push(told(await measureDurableSteps(peers, scale, until, progress)));
  }
  if (wanted("latency")) {
    progress("a run of one step beside others");
    const { peers: queues, failures: queueFailures } = await openPeers(
      [{ name: GRAPHILE_WORKER.name, open: () => openLibrary(GRAPHILE_WORKER, database) }],
      progress,
    );
    for (const peer of queues) cleanup.defer(() => peer.close());
    const section = await measureRunLatency([...peers, ...queues], scale, until, progress);
    sections.push(told({ ...section, note: [section.note, ...queueFailures].join(" ") }));
  }
  return sections;
}

/** Each with one other, on a server of their own. */
async function measurePair(
  openings: (database: BenchDatabase) => Parameters<typeof openPeers>[0],
  measure: (peers: readonly Peer[]) => Promise<Section>,
  progress: Progress,
): Promise<Section> {
  await using cleanup = new AsyncDisposableStack();
  const database = await openDatabase(2);
  cleanup.defer(() => database.close());
  const { peers, failures } = await openPeers(openings(database), progress);
  for (const peer of peers) cleanup.defer(() => peer.close());
  const section = await measure(peers);
  return { ...section, note: [section.note, ...failures].join(" ") };
}

/** On a server of their own, because they are killed. */
async function measureKilled(scale: PeerScale, until: number, progress: Progress): Promise<Section> {
  await using cleanup = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), "forge-bench-recovery-"));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const logOf = (name: string): string => path.join(directory, `${name.toLowerCase().replaceAll(" ", "-")}.log`);
  const database = await openDatabase(2);
  cleanup.defer(() => database.close());
  const { peers, failures } = await openPeers(
    [
      { name: "Forge", open: () => openForge(database, logOf("Forge")) },
      { name: DBOS.name, open: () => openLibrary(DBOS, database, logOf(DBOS.name)) },
      { name: "Restate", open: () => openRestate(logOf("Restate")) },
    ],
    progress,
  );
  for (const peer of peers) cleanup.defer(() => peer.close());
  const section = await measureRecovery(peers, logOf, scale, until, progress);
  return { ...section, note: [section.note, ...failures].join(" ") };
}

async function measureLongRun(scale: PeerScale, progress: Progress): Promise<readonly Section[]> {
  await using cleanup = new AsyncDisposableStack();
  const database = await openDatabase(2);
  cleanup.defer(() => database.close());
  const fleet = await startFleet(database.connection, "inside");
  cleanup.defer(() => fleet.close());
  return [await measureGrowth(database.pool, fleet, scale, progress), await measureOpenWaits(fleet, scale, progress)];
}

async function measureFull(scale: PeerScale, until: number, progress: Progress): Promise<Section> {
  await using cleanup = new AsyncDisposableStack();
  const open = async (name: string) => {
    const database = await openDatabase(2);
    cleanup.defer(() => database.close());
    const fleet = await startFleet(database.connection, "inside");
    cleanup.defer(() => fleet.close());
    return { name, database, fleet, round: forgeRounds(database.pool, () => fleet), close: () => Promise.resolve() };
  };
  return await measureFinishedRuns(await open("empty store"), await open("full store"), scale, until, progress);
}

/**
 * Measures beside the peers, in twelve minutes and what the last of its rounds takes. What fails is told of on stderr and in its section, and the rest goes on.
 */
export async function measurePeers(
  wanted: (name: PeerSection) => boolean,
  scale: PeerScale,
  progress: Progress,
): Promise<{ readonly machine: Machine; readonly sections: readonly Section[]; readonly versions: Readonly<Record<string, string>> }> {
  const began = performance.now();
  const until = (minutes: number): number => began + Math.min(minutes * 60_000, PEERS_MS_MAX);
  const sections: Section[] = [];
  const attempt = async (title: string, measure: () => Promise<readonly Section[]>): Promise<void> => {
    if (performance.now() > until(Number.POSITIVE_INFINITY)) {
      sections.push({ title, note: "There was no time left for it in this run.", rows: [] });
      return;
    }
    try {
      sections.push(...(await measure()));
    } catch (error) {
      const told = failure(title, error);
      progress(told);
      sections.push({ title, note: told, rows: [] });
    }
    progress(`  ${Math.round((performance.now() - began) / 1000)} s so far`);
  };
  const database = await openDatabase(1);
  const machine = await describeMachine(database.serverVersion);
  await database.close();
  const versions = await installPeers(progress);
  if (wanted("appends")) {
    progress("appends beside Emmett");
    const openings = (database: BenchDatabase) => [
      { name: "Forge", open: () => openAppends(database) },
      { name: EMMETT.name, open: () => openLibrary(EMMETT, database) },
    ];
    await attempt("Appends beside Emmett", async () => [
      await measurePair(openings, (peers) => measureAppendsBeside(peers, scale, until(1), progress), progress),
    ]);
  }
  if (wanted("turn")) {
    progress("a turn beside an agent of LangGraph.js");
    const openings = (database: BenchDatabase) => [
      { name: "Forge", open: () => openTurns(database) },
      { name: LANGGRAPH_AGENT.name, open: () => openLibrary(LANGGRAPH_AGENT, database) },
    ];
    await attempt("A turn beside an agent", async () => [
      await measurePair(openings, (peers) => measureTurnLatency(peers, scale, until(2), progress), progress),
    ]);
  }
  if (wanted("steps") || wanted("latency")) await attempt("Durable steps beside others", () => measureSteady(wanted, scale, until(5), progress));
  if (wanted("recovery")) {
    progress("recovery beside others");
    await attempt("Recovery beside others", async () => [await measureKilled(scale, until(7.5), progress)]);
  }
  if (wanted("growth")) {
    progress("a long run");
    await attempt("A long run", () => measureLongRun(scale, progress));
  }
  if (wanted("finished")) {
    progress("finished runs in the store");
    await attempt("Finished runs in the store", async () => [await measureFull(scale, until(Number.POSITIVE_INFINITY), progress)]);
  }
  return { machine, sections, versions };
}
