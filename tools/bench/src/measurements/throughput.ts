import type pg from "pg";
import { measure } from "../load.ts";
import type { Section } from "../report/row.ts";
import type { Scale } from "../scale.ts";
import type { Fleet } from "../server/fleet.ts";
import { quantile, ratePerSecond, spread } from "../statistics.ts";
import { checkRuns, checkTurns } from "./check-turns.ts";
import { completeRun, FUNCTION_RUN, STEPS } from "./runs.ts";
import { TurnRunner } from "./turns.ts";

const IN_FLIGHT = 32;
/** More turns than a second could hold: so many sessions are opened beforehand. */
const TURNS_PER_SECOND_MAX = 600;
const NOTE =
  `32 at once, executor inside the control plane's process, client in another one. A run has ${STEPS} steps, each of which calls a function that does nothing in a child process. Processor time ` +
  "is the control plane's and the executor's; database and function processes come on top.";

export async function measureThroughput(pool: pg.Pool, fleet: Fleet, scale: Scale): Promise<Section> {
  const steps: number[] = [];
  const turns: number[] = [];
  const turnP99s: number[] = [];
  const stepCpuUs: number[] = [];
  const turnCpuUs: number[] = [];
  for (let index = 0; index <= scale.rounds; index++) {
    const runIds: string[] = [];
    const cpuBefore = (await fleet.writes()).cpuUs;
    const runRound = await measure(IN_FLIGHT, { seconds: scale.seconds }, async () => void runIds.push(await completeRun(fleet.client, FUNCTION_RUN)));
    const cpuBetween = (await fleet.writes()).cpuUs;
    await checkRuns(pool, runIds, STEPS);
    const runner = new TurnRunner(fleet.client);
    const countMax = Math.round(scale.seconds * TURNS_PER_SECOND_MAX);
    // One in flight holds a session, so some are left with turns to spare.
    await runner.prepare(countMax + IN_FLIGHT * 10);
    const cpuPrepared = (await fleet.writes()).cpuUs;
    const turnRound = await measure(IN_FLIGHT, { seconds: scale.seconds, countMax }, () => runner.turn());
    const cpuAfter = (await fleet.writes()).cpuUs;
    runner.close();
    await checkTurns(pool, runner.sessionIds, turnRound.count);
    if (index === 0) continue;
    steps.push(ratePerSecond(runRound) * STEPS);
    turns.push(ratePerSecond(turnRound));
    turnP99s.push(quantile(turnRound.latenciesMs, 0.99));
    stepCpuUs.push((cpuBetween - cpuBefore) / (runRound.count * STEPS));
    turnCpuUs.push((cpuAfter - cpuPrepared) / turnRound.count);
  }
  return {
    title: "Throughput",
    note: NOTE,
    rows: [
      { name: "durable function steps", unit: "/s", value: spread(steps) },
      { name: "durable function step: processor time", unit: "µs", value: spread(stepCpuUs) },
      { name: "turns", unit: "/s", value: spread(turns) },
      { name: "turn: p99", unit: "ms", value: spread(turnP99s) },
      { name: "turn: processor time", unit: "µs", value: spread(turnCpuUs) },
    ],
  };
}
