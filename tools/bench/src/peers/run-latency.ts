import type { Row, Section } from "../report/row.ts";
import { quantile } from "../statistics.ts";
import type { Peer } from "./peer.ts";
import { numberRow, ratioRow, takeRounds } from "./rounds.ts";
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
  const ours = rounds.get("Forge") ?? [];
  const rows = SHARES.flatMap(([title, share]): Row[] => {
    const of = ({ latenciesMs }: { readonly latenciesMs: readonly number[] }): number => quantile(latenciesMs, share);
    const others = [...rounds].filter(([name]) => name !== "Forge" && ours.length > 0);
    return [
      ...[...rounds].map(([name, taken]) => numberRow(`${name}: one-step run: ${title}`, "ms", taken, of)),
      ...others.map(([name, taken]) =>
        ratioRow(`Forge to ${name}: one-step run: ${title}`, ours.map(of), taken.map(of), name === "graphile-worker" ? undefined : { most: 1 }),
      ),
    ];
  });
  return { title: "A run of one step beside others", note: [NOTE, ...failures].join(" "), rows };
}
