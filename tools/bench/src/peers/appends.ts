import { createPostgresStore } from "@forge/store-postgres";
import { checkAppends } from "../append/check-appends.ts";
import { EVENT_BYTES, IN_FLIGHT, STREAMS } from "../append/contents.ts";
import { engineCommands } from "../append/engine.ts";
import type { BenchDatabase } from "../database.ts";
import type { Section } from "../report/row.ts";
import { ratePerSecond } from "../statistics.ts";
import type { Peer } from "./peer.ts";
import { numberRow, ratioRow, takeRounds } from "./rounds.ts";
import type { PeerScale } from "./scale.ts";

const NOTE =
  `Appends of one event of ${EVENT_BYTES} bytes to a stream at the version that is expected there, ${IN_FLIGHT} in flight over ${STREAMS} streams, in rounds that take turns; each library in its caller's process. Forge decides a command for ` +
  "each and records its result beside the event; its appends that come together share a commit. Emmett appends by a function in PostgreSQL, each in a transaction of its own, on as many connections as are in flight.";

/** The engine with the least that can be decided, in this process. */
export async function openAppends({ connection, pool }: BenchDatabase): Promise<Peer> {
  const store = await createPostgresStore(connection);
  const workload = engineCommands(store);
  let count = 0;
  return {
    name: "Forge",
    round: async ({ seconds }) => {
      const namespace = `bench-${count++}`;
      const round = await workload.round(namespace, { seconds });
      await checkAppends(pool, namespace, round.count, true);
      return round;
    },
    close: () => store.close(),
  };
}

export async function measureAppendsBeside(peers: readonly Peer[], scale: PeerScale, until: number, progress: (text: string) => void): Promise<Section> {
  const { rounds, failures } = await takeRounds(peers, { steps: 1, inFlight: IN_FLIGHT, seconds: scale.seconds }, scale.rounds, until, progress);
  const [ours = [], theirs = []] = [rounds.get("Forge"), rounds.get("Emmett")];
  return {
    title: "Appends beside Emmett",
    note: [NOTE, ...failures].join(" "),
    rows: [
      ...[...rounds].map(([name, taken]) => numberRow(`${name}: appends`, "/s", taken, ratePerSecond)),
      ...[...rounds].map(([name, taken]) => numberRow(`${name}: processor time of its process for an append`, "µs", taken, ({ cpuUs }) => cpuUs)),
      ...(rounds.size === 2 ? [ratioRow("Forge to Emmett: appends", ours.map(ratePerSecond), theirs.map(ratePerSecond))] : []),
    ],
  };
}
