import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createPostgresStore } from "@forge/store-postgres";
import { IN_FLIGHT } from "./append/contents.ts";
import { openDatabase } from "./database.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { AGENT_FULL, AGENT_QUICK } from "./measurements/agent/agent-scale.ts";
import { AGENT_SECTIONS, type AgentSection, measureAgent } from "./measurements/agent/measure-agent.ts";
import { measureAppends } from "./measurements/appends.ts";
import { measureClients } from "./measurements/clients.ts";
import { measureColdStart } from "./measurements/cold-start.ts";
import { measureSequential } from "./measurements/sequential.ts";
import { measureSteps } from "./measurements/steps.ts";
import { measureThroughput } from "./measurements/throughput.ts";
import { measurePeers, PEER_SECTIONS, type PeerSection } from "./peers/measure-peers.ts";
import { PEERS_FULL, PEERS_QUICK } from "./peers/scale.ts";
import { formatShortfalls, formatText } from "./report/format.ts";
import { AGENT_LOOP, BESIDE_PEERS, type Markers, MEASURED, measuredMarkdown, replaceMeasured, UNDER_LOAD } from "./report/page.ts";
import type { Section } from "./report/row.ts";
import { FULL, QUICK, type Scale } from "./scale.ts";
import { startFleet } from "./server/fleet.ts";
import { LOAD_SECTIONS, type LoadSection, measureLoad } from "./under-load/measure-load.ts";
import { LOAD_FULL, LOAD_QUICK } from "./under-load/scale.ts";

// Measures what docs/reference/performance.md shows. `--quick` takes two minutes at most, leaves out the clients, and leaves the page alone, `--json` prints one JSON object,
// `--only appends,turns` measures some sections, and leaves the page alone as well. `--peers` measures beside others instead, which it installs first, `--agent` what
// agents, their tools and the command cost, `--load` how it holds out; each has a part of the page of its own.

const PAGE = fileURLToPath(new URL("../../../docs/reference/performance.md", import.meta.url));

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean" },
    json: { type: "boolean" },
    only: { type: "string" },
    peers: { type: "boolean" },
    agent: { type: "boolean" },
    load: { type: "boolean" },
  },
});
const scale: Scale = options.quick === true ? QUICK : FULL;
const only = options.only?.split(",");

interface Measured {
  readonly machine: Machine;
  readonly sections: readonly Section[];
  /** Of what it was measured beside. */
  readonly versions?: Readonly<Record<string, string>>;
}

type Name = "appends" | "turns" | "steps" | "throughput" | "clients" | "start";
const NAMES: readonly Name[] = ["appends", "turns", "steps", "throughput", "clients", "start"];
const groups = { peers: PEER_SECTIONS, agent: AGENT_SECTIONS, load: LOAD_SECTIONS } as const;
const [group, ...others] = (Object.keys(groups) as (keyof typeof groups)[]).filter((name) => options[name] === true);
if (others.length > 0) throw new Error("--peers, --agent and --load are measured one at a time");
const known: readonly string[] = group === undefined ? NAMES : groups[group];
for (const name of only ?? []) if (!known.includes(name)) throw new Error(`--only takes ${known.join(", ")}, separated by commas, and not "${name}"`);

const wanted = (name: Name | PeerSection | AgentSection | LoadSection): boolean => only === undefined || only.includes(name);
const progress = (text: string): void => console.error(text);

async function measureDatabase(): Promise<Measured> {
  const sections: Section[] = [];
  await using cleanup = new AsyncDisposableStack();
  const database = await openDatabase(IN_FLIGHT);
  cleanup.defer(() => database.close());
  const { connection, pool, serverVersion } = database;
  const machine = await describeMachine(serverVersion);
  if (wanted("appends")) {
    progress("appends under load");
    const store = await createPostgresStore(connection);
    try {
      sections.push(await measureAppends(pool, store, scale));
    } finally {
      await store.close();
    }
  }
  return { sections, machine };
}

/** On a database of their own, whose connections the append's baseline does not take. */
async function measureServices(): Promise<readonly Section[]> {
  const sections: Section[] = [];
  await using cleanup = new AsyncDisposableStack();
  const database = await openDatabase(2);
  cleanup.defer(() => database.close());
  const { connection, pool } = database;
  const inside = await startFleet(connection, "inside");
  cleanup.defer(() => inside.close());
  if (wanted("turns")) {
    progress("one at a time");
    await using other = new AsyncDisposableStack();
    // Two control planes on one database would share the work: this one has a database of its own.
    const apartDatabase = await openDatabase(2);
    other.defer(() => apartDatabase.close());
    const apart = await startFleet(apartDatabase.connection, "apart");
    other.defer(() => apart.close());
    sections.push(await measureSequential({ inside: { fleet: inside, pool }, apart: { fleet: apart, pool: apartDatabase.pool } }, scale));
  }
  if (wanted("steps")) {
    progress("appends of a step");
    sections.push(await measureSteps(pool, inside, scale));
  }
  if (wanted("throughput")) {
    progress("throughput");
    sections.push(await measureThroughput(pool, inside, scale));
  }
  if (wanted("clients") && !(options.quick === true && only === undefined)) {
    progress("clients");
    sections.push(await measureClients(inside, scale));
  }
  return sections;
}

async function measureForge(): Promise<Measured> {
  const { sections, machine } = await measureDatabase();
  const all = [...sections];
  if (wanted("turns") || wanted("steps") || wanted("throughput") || wanted("clients")) all.push(...(await measureServices()));
  if (wanted("start")) {
    progress("cold start");
    all.push(await measureColdStart(scale));
  }
  return { machine, sections: all };
}

const isQuick = options.quick === true;

async function measure(): Promise<{ readonly measured: Measured; readonly part: Markers }> {
  switch (group) {
    case "peers":
      return { measured: await measurePeers(wanted, isQuick ? PEERS_QUICK : PEERS_FULL, progress), part: BESIDE_PEERS };
    case "agent":
      return { measured: await measureAgent(wanted, { ...scale, ...(isQuick ? AGENT_QUICK : AGENT_FULL) }, progress), part: AGENT_LOOP };
    case "load":
      return { measured: await measureLoad(wanted, isQuick ? LOAD_QUICK : LOAD_FULL, progress), part: UNDER_LOAD };
    default:
      return { measured: await measureForge(), part: MEASURED };
  }
}

const { measured, part } = await measure();
const { machine, sections, versions } = measured;
if (options.json === true) console.log(JSON.stringify({ machine, versions, sections }));
else console.log(`${formatText(sections)}\n${formatShortfalls(sections)}`);
if (!isQuick && only === undefined) await writeFile(PAGE, replaceMeasured(await readFile(PAGE, "utf8"), measuredMarkdown(machine, sections, versions), part));
