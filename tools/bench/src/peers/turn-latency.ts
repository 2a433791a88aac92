import type { BenchDatabase } from "../database.ts";
import { measure } from "../load.ts";
import { checkTurns } from "../measurements/check-turns.ts";
import { TURNS_PER_SESSION } from "../measurements/turn-contents.ts";
import { TurnRunner } from "../measurements/turns.ts";
import type { Section } from "../report/row.ts";
import { startFleet } from "../server/fleet.ts";
import type { Peer } from "./peer.ts";
import { takeRounds } from "./rounds.ts";
import { latencyRows } from "./run-latency.ts";
import type { PeerScale } from "./scale.ts";

/** Longer than a round takes anywhere, so that conversations are whole. */
const SECONDS_MAX = 60;
const NOTE =
  `A turn of an agent whose model answers at once what it is told, one after the other, ${TURNS_PER_SESSION} in a conversation, in rounds that take turns. Forge: demo/echo, from the call to \`turn.completed\` at a subscriber in ` +
  "a process of its own, with the answer's pieces on the way. LangGraph.js: its prebuilt agent without tools on its own fake model, with the PostgreSQL saver and durability \"sync\", in its caller's process, until its call returns.";

export async function openTurns({ connection, pool }: BenchDatabase): Promise<Peer> {
  const fleet = await startFleet(connection, "inside");
  return {
    name: "Forge",
    round: async ({ seconds, countMax }) => {
      const runner = new TurnRunner(fleet.client);
      try {
        await runner.prepare((countMax ?? 0) + TURNS_PER_SESSION);
        const round = await measure(1, { seconds, ...(countMax !== undefined && { countMax }) }, () => runner.turn());
        await checkTurns(pool, runner.sessionIds, round.count);
        return round;
      } finally {
        runner.close();
      }
    },
    close: () => fleet.close(),
  };
}

export async function measureTurnLatency(peers: readonly Peer[], scale: PeerScale, until: number, progress: (text: string) => void): Promise<Section> {
  // Whole conversations, so that each round's can be counted by themselves.
  const countMax = Math.ceil(scale.repetitions / TURNS_PER_SESSION) * TURNS_PER_SESSION;
  const { rounds, failures } = await takeRounds(peers, { steps: 1, inFlight: 1, seconds: SECONDS_MAX, countMax }, scale.rounds, until, progress);
  return { title: "A turn beside an agent", note: [NOTE, ...failures].join(" "), rows: latencyRows("turn", rounds, () => undefined) };
}
