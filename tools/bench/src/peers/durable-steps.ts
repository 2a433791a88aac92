import type { Section } from "../report/row.ts";
import { type Round, ratePerSecond } from "../statistics.ts";
import type { Peer } from "./peer.ts";
import { numberRow, ratioRow, takeRounds } from "./rounds.ts";
import type { PeerScale } from "./scale.ts";

const STEPS = 10;
const IN_FLIGHT = 32;
/** Ours to theirs. */
const LEAST: Readonly<Record<string, number>> = { "DBOS Transact": 4, "LangGraph.js": 6, Restate: 2 };

const NOTE =
  `Runs of ${STEPS} steps that do nothing, ${IN_FLIGHT} in flight, in rounds that take turns. Forge, DBOS Transact and LangGraph.js are on one PostgreSQL, each in a database of its own, which flushes every commit. ` +
  "Forge: the executor is inside the control plane's process, functions are in child processes, the client is in a process of its own. DBOS Transact: steps of a workflow function, in its caller's " +
  'process. LangGraph.js: a graph of ten nodes with the PostgreSQL saver and durability "sync", in its caller\'s process. Restate: its server as a single node with its default settings, whose log is ' +
  "RocksDB's and is flushed to the disk before it answers; `ctx.run` for each step; service and client in a process each. Every run that is counted has been found in the records of the one that ran it.";

const stepRate = (round: Round): number => ratePerSecond(round) * STEPS;

export async function measureDurableSteps(peers: readonly Peer[], scale: PeerScale, until: number, progress: (text: string) => void): Promise<Section> {
  const { rounds, failures } = await takeRounds(peers, { steps: STEPS, inFlight: IN_FLIGHT, seconds: scale.seconds }, scale.rounds, until, progress);
  const ours = rounds.get("Forge") ?? [];
  const others = [...rounds].filter(([name]) => name !== "Forge" && ours.length > 0);
  return {
    title: "Durable steps beside others",
    note: [NOTE, ...failures].join(" "),
    rows: [
      ...[...rounds].map(([name, taken]) => numberRow(`${name}: durable steps`, "/s", taken, stepRate)),
      ...others.map(([name, taken]) => ratioRow(`Forge to ${name}: durable steps`, ours.map(stepRate), taken.map(stepRate), { least: LEAST[name] })),
    ],
  };
}
