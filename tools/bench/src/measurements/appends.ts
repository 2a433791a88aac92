import type { Store } from "@forge/engine/ports";
import type pg from "pg";
import { batchedAppends } from "../append/batched.ts";
import { checkAppends } from "../append/check-appends.ts";
import { engineCommands } from "../append/engine.ts";
import { singleAppends } from "../append/single.ts";
import type { Row, Section } from "../report/row.ts";
import type { Scale } from "../scale.ts";
import { median, quantile, type Round, ratePerSecond, spread } from "../statistics.ts";

const NOTE =
  "32 in flight over 64 streams; each appends one event of 300 bytes and one command record. The unbatched baseline is a thinner statement than the engine's, without checks " +
  "of leases and without tasks. The batched one is the engine's own statement and batching, without the engine. The engine's row is everything from the command to " +
  "the acknowledged commit, wake-ups to other replicas included; client, engine and database share this machine's cores.";

/** Of the batched baseline's rate. */
const RATIO_MIN = 0.6;

interface Measured {
  readonly name: string;
  readonly rounds: Round[];
}

function rateRow({ name, rounds }: Measured): Row {
  return { name: `${name}: rate`, unit: "/s", value: spread(rounds.map(ratePerSecond)) };
}

function p99Of(round: Round): number {
  return quantile(round.latenciesMs, 0.99);
}

function p99Row({ name, rounds }: Measured): Row {
  return { name: `${name}: p99`, unit: "ms", value: spread(rounds.map(p99Of)) };
}

/** Of each round to the other's same round, so that what slowed the disk down slowed both. */
function ratios(a: Measured, b: Measured, of: (round: Round) => number): number[] {
  return a.rounds.map((round, index) => of(round) / of(b.rounds[index] as Round));
}

export async function measureAppends(pool: pg.Pool, store: Store, scale: Scale): Promise<Section> {
  const workloads = [singleAppends(pool), batchedAppends(store), engineCommands(store)];
  const measured = workloads.map(({ name }): Measured => ({ name, rounds: [] }));
  // The first round warms up code, caches and plans, and is thrown away.
  for (let index = 0; index <= scale.rounds; index++) {
    for (const [place, workload] of workloads.entries()) {
      const namespace = `bench-${place}-${index}`;
      const round = await workload.round(namespace, { seconds: scale.seconds });
      await checkAppends(pool, namespace, round.count, place > 0);
      if (index > 0) measured[place]?.rounds.push(round);
    }
  }
  const [single, batched, engine] = measured as [Measured, Measured, Measured];
  const rate = ratios(engine, batched, ratePerSecond);
  const p99 = ratios(engine, single, p99Of);
  return {
    title: "Appends under load",
    note: NOTE,
    rows: [
      rateRow(single),
      p99Row(single),
      { ...rateRow(batched), ratio: { value: median(ratios(batched, single, ratePerSecond)), to: "unbatched" } },
      p99Row(batched),
      {
        ...rateRow(engine),
        ratio: { value: median(rate), to: "batched" },
        target: { text: `at least ${RATIO_MIN} of batched`, isMet: median(rate) >= RATIO_MIN },
      },
      { ...p99Row(engine), ratio: { value: median(p99), to: "unbatched" }, target: { text: "at most 1 of unbatched", isMet: median(p99) <= 1 } },
      { name: "engine and client: processor time per command", unit: "µs", value: spread(engine.rounds.map(({ cpuUs }) => cpuUs)) },
    ],
  };
}
