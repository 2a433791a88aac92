import type pg from "pg";
import { measure } from "../load.ts";
import type { Row, Section } from "../report/row.ts";
import type { Scale } from "../scale.ts";
import { difference, type Writes } from "../server/counting-store.ts";
import type { Fleet } from "../server/fleet.ts";
import { median, quantile, type Round, spread } from "../statistics.ts";
import { createBareClient, STREAM_MESSAGES } from "./bare.ts";
import { checkTurns } from "./check-turns.ts";
import { createCommitTable, measureCommits } from "./commit.ts";
import { TurnRunner } from "./turns.ts";

const NOTE =
  "One at a time. A turn is `StartTurn` of demo/echo over Connect, from the call to `turn.completed` at a subscriber in the client's process. With the executor inside the " +
  "control plane's process, as in `forge up`, it needs one round trip: the call there, the event back. Its commits are counted at the store, those beside its way included; what happens " +
  "by the clock, such as heartbeats, is not. A turn is also computing, in three processes that wake each other up: on a disk that flushes in a tenth of a millisecond that is most of it.";

const COMMITS_MAX = 5;
const SUM_RATIO_MAX = 1.5;
/** The call there, the event back. */
const ROUND_TRIPS = 1;

function p50(round: Round): number {
  return quantile(round.latenciesMs, 0.5);
}

/** Processes that serve, and a pool for checks on their database. */
export interface Subject {
  readonly fleet: Fleet;
  readonly pool: pg.Pool;
}

interface Turns {
  readonly round: Round;
  readonly writes: Writes;
}

async function measureTurns({ pool, fleet }: Subject, count: number): Promise<Turns> {
  const runner = new TurnRunner(fleet.client);
  try {
    await runner.prepare(count);
    const before = await fleet.writes();
    const round = await measure(1, { seconds: 60, countMax: count }, () => runner.turn());
    const after = await fleet.writes();
    await checkTurns(pool, runner.sessionIds, round.count);
    return { round, writes: difference(after.writes, before.writes) };
  } finally {
    runner.close();
  }
}

/** Every commit that turns caused, for each turn. */
function commitsPerTurn({ round, writes }: Turns): number {
  return (writes.appendCommits + writes.otherCommits) / round.count;
}

export async function measureSequential(subjects: { readonly inside: Subject; readonly apart: Subject }, scale: Scale): Promise<Section> {
  const { inside, apart } = subjects;
  await createCommitTable(inside.pool);
  const bare = createBareClient(inside.fleet.bareUrl);
  const commits: number[] = [];
  const unary: number[] = [];
  const shortStreams: number[] = [];
  const streamRates: number[] = [];
  const turns: Turns[] = [];
  const turnsApart: Turns[] = [];
  try {
    for (let index = 0; index <= scale.rounds; index++) {
      const commit = p50(await measureCommits(inside.pool, scale.repetitions));
      const roundTrip = p50(await bare.unary(scale.repetitions));
      const shortStream = p50(await bare.shortStreams(scale.repetitions));
      const streamRate = await bare.streamRate();
      const measured = await measureTurns(inside, scale.repetitions);
      const measuredApart = await measureTurns(apart, scale.repetitions);
      if (index === 0) continue;
      commits.push(commit);
      unary.push(roundTrip);
      shortStreams.push(shortStream);
      streamRates.push(streamRate);
      turns.push(measured);
      turnsApart.push(measuredApart);
    }
  } finally {
    bare.close();
  }
  const sums = turns.map((one, index) => commitsPerTurn(one) * (commits[index] as number) + ROUND_TRIPS * (unary[index] as number));
  const ratio = median(turns.map(({ round }, index) => p50(round) / (sums[index] as number)));
  const perTurn = spread(turns.map(commitsPerTurn));
  const turnRow = (name: string, measured: readonly Turns[]): Row => ({ name, unit: "ms", value: spread(measured.map(({ round }) => p50(round))) });
  return {
    title: "One at a time",
    note: NOTE,
    rows: [
      { name: "one commit: p50", unit: "ms", value: spread(commits) },
      { name: "one bare Connect round trip: p50", unit: "ms", value: spread(unary) },
      { name: "one bare Connect stream of one message: p50", unit: "ms", value: spread(shortStreams) },
      { name: `one bare Connect stream: messages, of ${STREAM_MESSAGES}`, unit: "/s", value: spread(streamRates) },
      { name: "commits of a turn", unit: "commits", value: perTurn, target: { text: `at most ${COMMITS_MAX}`, isMet: perTurn.median <= COMMITS_MAX } },
      { name: "sum of a turn's commits and round trips", unit: "ms", value: spread(sums) },
      {
        ...turnRow("turn, executor inside: p50", turns),
        ratio: { value: ratio, to: "the sum" },
        target: { text: `at most ${SUM_RATIO_MAX} of the sum`, isMet: ratio <= SUM_RATIO_MAX },
      },
      turnRow("turn, executor in a process of its own: p50", turnsApart),
    ],
  };
}
