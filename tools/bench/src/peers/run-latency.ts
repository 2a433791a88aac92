import type { Bound } from "../report/compare.ts";
import type { Row, Section } from "../report/row.ts";
import { quantile, type Round } from "../statistics.ts";
import type { Peer } from "./peer.ts";
import { numberRow, type PeerRounds, ratioRow, takeRounds } from "./rounds.ts";
import type { PeerScale } from "./scale.ts";

const SECONDS_MAX = 10;
const NOTE =
  "A run of one step that does nothing, one after the other, from the call that starts it until its caller knows that it has ended; in rounds that take turns. Forge's caller and Restate's are processes of their own; " +
  "the others' is the process that executes the step. graphile-worker's run is a job, which leaves no record of having ended.";
const SHARES = [
  ["p50", 0.5],
  ["p99", 0.99],
] as const;

export async function measureRunLatency(peers: readonly Peer[], scale: PeerScale, until: number, progress: (text: string) => void): Promise<Section> {
  const load = { steps: 1, inFlight: 1, seconds: SECONDS_MAX, countMax: scale.repetitions };
  const { rounds, failures } = await takeRounds(peers, load, scale.rounds, until, progress);
  const rows = latencyRows("one-step run", rounds, (name) => (name === "graphile-worker" ? undefined : { most: 1 }));
  return { title: "A run of one step beside others", note: [NOTE, ...failures].join(" "), rows };
}

/** Of each, p50 and p99; and ours to each of the others'. */
export function latencyRows(what: string, rounds: PeerRounds, boundOf: (name: string) => Bound | undefined): Row[] {
  const ours = rounds.get("Forge") ?? [];
  const others = [...rounds].filter(([name]) => name !== "Forge" && ours.length > 0);
  return SHARES.flatMap(([title, share]): Row[] => {
    const of = ({ latenciesMs }: Round): number => quantile(latenciesMs, share);
    return [
      ...[...rounds].map(([name, taken]) => numberRow(`${name}: ${what}: ${title}`, "ms", taken, of)),
      ...others.map(([name, taken]) => ratioRow(`Forge to ${name}: ${what}: ${title}`, ours.map(of), taken.map(of), boundOf(name))),
    ];
  });
}
