import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createPostgresStore } from "@forge/store-postgres";
import { IN_FLIGHT } from "./append/contents.ts";
import { openDatabase } from "./database.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { measureAppends } from "./measurements/appends.ts";
import { measureClients } from "./measurements/clients.ts";
import { measureColdStart } from "./measurements/cold-start.ts";
import { measureSandboxStart } from "./measurements/sandbox-start.ts";
import { measureSequential } from "./measurements/sequential.ts";
import { measureSteps } from "./measurements/steps.ts";
import { measureThroughput } from "./measurements/throughput.ts";
import { measurePeers, PEER_SECTIONS, type PeerSection } from "./peers/measure-peers.ts";
import { PEERS_FULL, PEERS_QUICK } from "./peers/scale.ts";
import { formatShortfalls, formatText } from "./report/format.ts";
import { BESIDE_PEERS, MEASURED, measuredMarkdown, replaceMeasured } from "./report/page.ts";
import type { Section } from "./report/row.ts";
import { FULL, QUICK, type Scale } from "./scale.ts";
import { startFleet } from "./server/fleet.ts";

// Measures what docs/reference/performance.md shows. `--quick` takes two minutes at most, leaves out the clients, and leaves the page alone, `--json` prints one JSON object,
// `--only appends,turns` measures some sections, and leaves the page alone as well. `--peers` measures beside others instead, which it installs first, in a part of the page of its own.

const PAGE = fileURLToPath(new URL("../../../docs/reference/performance.md", import.meta.url));

const { values: options } = parseArgs({
  options: { quick: { type: "boolean" }, json: { type: "boolean" }, only: { type: "string" }, peers: { type: "boolean" } },
});
const scale: Scale = options.quick === true ? QUICK : FULL;
const only = options.only?.split(",");

interface Measured {
  readonly machine: Machine;
  readonly sections: readonly Section[];
  /** Of what it was measured beside. */
  readonly versions?: Readonly<Record<string, string>>;
}

type Name = "appends" | "turns" | "steps" | "throughput" | "clients" | "sandbox" | "start";
const NAMES: readonly Name[] = ["appends", "turns", "steps", "throughput", "clients", "sandbox", "start"];
const known: readonly string[] = options.peers === true ? PEER_SECTIONS : NAMES;
for (const name of only ?? []) if (!known.includes(name)) throw new Error(`--only takes ${known.join(", ")}, separated by commas, and not "${name}"`);

const wanted = (name: Name | PeerSection): boolean => only === undefined || only.includes(name);
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
  if (wanted("sandbox")) {
    progress("sandbox");
    all.push(await measureSandboxStart(scale));
  }
  if (wanted("start")) {
    progress("cold start");
    all.push(await measureColdStart(scale));
  }
  return { machine, sections: all };
}

const isQuick = options.quick === true;
const { machine, sections, versions }: Measured = await (options.peers === true
  ? measurePeers(wanted, isQuick ? PEERS_QUICK : PEERS_FULL, progress)
  : measureForge());
if (options.json === true) console.log(JSON.stringify({ machine, versions, sections }));
else console.log(`${formatText(sections)}\n${formatShortfalls(sections)}`);
if (!isQuick && only === undefined) {
  const measured = measuredMarkdown(machine, sections, versions);
  await writeFile(PAGE, replaceMeasured(await readFile(PAGE, "utf8"), measured, options.peers === true ? BESIDE_PEERS : MEASURED));
}
