import { type BenchDatabase, openDatabase } from "../database.ts";
import { describeMachine, type Machine } from "../machine.ts";
import type { Section } from "../report/row.ts";
import { type Fleet, startFleet } from "../server/fleet.ts";
import { measureControlPlanes } from "./control-planes.ts";
import { measureFanOut } from "./fan-out.ts";
import { measureIdle } from "./idle.ts";
import { measureOpenTransaction } from "./open-transaction.ts";
import { measurePooler } from "./pooler.ts";
import type { LoadScale } from "./scale.ts";
import { measureStreams } from "./streams.ts";
import { measureSubscriber } from "./subscriber.ts";
import { measureSustained } from "./sustained.ts";

export const LOAD_SECTIONS = ["fan-out", "subscriber", "streams", "control-planes", "open-transaction", "idle", "pooler", "sustained"] as const;
export type LoadSection = (typeof LOAD_SECTIONS)[number];

type Progress = (text: string) => void;

/** Each section has a database and a control plane of its own, so that none measures what another left behind. */
async function onItsOwn(measure: (fleet: Fleet, database: BenchDatabase) => Promise<Section>): Promise<Section> {
  await using cleanup = new AsyncDisposableStack();
  const database = await openDatabase(2);
  cleanup.defer(() => database.close());
  const fleet = await startFleet(database.connection, "inside");
  cleanup.defer(() => fleet.close());
  return await measure(fleet, database);
}

/** How Forge holds out: the sections that are wanted, in the order of their names. */
export async function measureLoad(
  wanted: (name: LoadSection) => boolean,
  scale: LoadScale,
  progress: Progress,
): Promise<{ readonly machine: Machine; readonly sections: readonly Section[] }> {
  const database = await openDatabase(1);
  const machine = await describeMachine(database.serverVersion);
  await database.close();
  const measurements: Readonly<Record<LoadSection, () => Promise<Section>>> = {
    "fan-out": () => onItsOwn((fleet, { pool }) => measureFanOut(fleet, pool, scale, progress)),
    subscriber: () => onItsOwn((fleet, database) => measureSubscriber(fleet, database, scale, progress)),
    streams: () => measureStreams(scale, progress),
    "control-planes": () => measureControlPlanes(scale, progress),
    "open-transaction": () => onItsOwn((fleet, database) => measureOpenTransaction(fleet, database, scale, progress)),
    pooler: () => measurePooler(scale, progress),
    sustained: () => onItsOwn((fleet, database) => measureSustained(fleet, database, scale, progress)),
    idle: () => onItsOwn((fleet, { pool }) => measureIdle(fleet, pool, scale, progress)),
  };
  const sections: Section[] = [];
  for (const name of LOAD_SECTIONS.filter(wanted)) {
    progress(name);
    const began = performance.now();
    sections.push(await measurements[name]());
    progress(`  ${Math.round((performance.now() - began) / 1000)} s`);
  }
  return { machine, sections };
}
