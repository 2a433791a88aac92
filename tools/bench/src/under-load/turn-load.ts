import type pg from "pg";
import { measure } from "../load.ts";
import { checkTurns } from "../measurements/check-turns.ts";
import { TurnRunner } from "../measurements/turns.ts";
import type { Fleet } from "../server/fleet.ts";
import type { Round } from "../statistics.ts";

/** More turns than a second could hold: so many sessions are opened beforehand. */
const TURNS_PER_SECOND_MAX = 600;

/** Turns of demo/echo, so many at once, shared among control planes; found ended in their database. One round of each control plane. */
export async function turnLoad(
  pool: pg.Pool,
  fleets: readonly Fleet[],
  inFlight: number,
  seconds: number,
  during: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): Promise<readonly Round[]> {
  const runners = fleets.map(({ client }) => new TurnRunner(client));
  try {
    const each = inFlight / fleets.length;
    const countMax = Math.round((seconds * TURNS_PER_SECOND_MAX) / fleets.length);
    // One in flight holds a session, so some are left with turns to spare.
    await Promise.all(runners.map((runner) => runner.prepare(countMax + each * 10)));
    const rounds = await during(() => Promise.all(runners.map((runner) => measure(each, { seconds, countMax }, () => runner.turn()))));
    const ids = runners.flatMap(({ sessionIds }) => sessionIds);
    await checkTurns(
      pool,
      ids,
      rounds.reduce((sum, { count }) => sum + count, 0),
    );
    return rounds;
  } finally {
    for (const runner of runners) runner.close();
  }
}
