import type pg from "pg";
import type { Row, Section } from "../report/row.ts";
import type { Scale } from "../scale.ts";
import { difference } from "../server/counting-store.ts";
import type { Fleet } from "../server/fleet.ts";
import { spread } from "../statistics.ts";
import { checkRuns } from "./check-turns.ts";
import { completeRun, FUNCTION_RUN, STEPS, TOOL_RUN } from "./runs.ts";

const NOTE =
  `Counted at the store, on runs of ${STEPS} steps. The append that starts the run, and begins its first step, is left out. The tool writes a file, which has an effect, so that its start is ` +
  "appended before it may happen.";

async function appendsPerStep(pool: pg.Pool, fleet: Fleet, definition: typeof FUNCTION_RUN, runs: number): Promise<readonly number[]> {
  const counted: number[] = [];
  for (let index = 0; index < runs; index++) {
    const before = await fleet.writes();
    const runId = await completeRun(fleet.client, definition);
    const { appends, deltaAppends } = difference((await fleet.writes()).writes, before.writes);
    await checkRuns(pool, [runId], STEPS);
    counted.push((appends + deltaAppends - 1) / STEPS);
  }
  return counted;
}

function row(name: string, counted: readonly number[], wanted: number): Row {
  const value = spread(counted);
  return { name, unit: "appends", value, target: { text: `${wanted}`, isMet: value.min === wanted && value.max === wanted } };
}

export async function measureSteps(pool: pg.Pool, fleet: Fleet, scale: Scale): Promise<Section> {
  const functions = await appendsPerStep(pool, fleet, FUNCTION_RUN, scale.rounds);
  const tools = await appendsPerStep(pool, fleet, TOOL_RUN, scale.rounds);
  return { title: "Appends of a step", note: NOTE, rows: [row("function step", functions, 1), row("tool step", tools, 2)] };
}
