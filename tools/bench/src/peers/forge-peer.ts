import type { MessageInitShape } from "@bufbuild/protobuf";
import { commandHeader } from "@forge/client";
import { OnError, type StartRunRequestSchema } from "@forge/protocol/workflow";
import type pg from "pg";
import type { BenchDatabase } from "../database.ts";
import { measure } from "../load.ts";
import { checkRuns } from "../measurements/check-turns.ts";
import { completeRun } from "../measurements/runs.ts";
import { type Fleet, startFleet } from "../server/fleet.ts";
import { withinTime } from "../within-time.ts";
import type { Peer, RecoverablePeer } from "./peer.ts";

/** As long as a peer's program may take to answer. */
const ROUND_MS_MAX = 60_000;

type Definition = NonNullable<MessageInitShape<typeof StartRunRequestSchema>["definition"]>;

/** Calls of a function that does nothing, one after the other, each told the run's name and its own number. */
export function functionRun(steps: number, run = ""): Definition {
  return {
    id: "bench_steps",
    version: "v1",
    onError: OnError.FAIL_FAST,
    steps: Array.from({ length: steps }, (_, index) => ({
      id: `step_${index}`,
      kind: { case: "function" as const, value: { name: "bench.nothing" } },
      inputs: {
        run: { kind: { case: "literalJson" as const, value: JSON.stringify(run) } },
        step: { kind: { case: "literalJson" as const, value: `${index}` } },
      },
    })),
  };
}

/** The module that the executor loads. */
function functionsFor(log: string | undefined): string {
  if (log === undefined) return "export function nothing({ step }) {\n  return { last: step };\n}\n";
  return (
    'import { appendFileSync } from "node:fs";\n' +
    `export function nothing({ run, step }) {\n  appendFileSync(${JSON.stringify(log)}, \`\${run} \${step}\\n\`);\n  return { last: step };\n}\n`
  );
}

/** Rounds of a fleet, the runs of which are then looked for in its database. */
export function forgeRounds(pool: pg.Pool, fleet: () => Fleet): Peer["round"] {
  return async ({ steps, inFlight, ...extent }) => {
    const definition = functionRun(steps);
    const runIds: string[] = [];
    const measuring = measure(inFlight, extent, async () => void runIds.push(await completeRun(fleet().client, definition)));
    const round = await withinTime(measuring, ROUND_MS_MAX, "a round");
    await checkRuns(pool, runIds, steps);
    return round;
  };
}

/** As in `forge up`: the executor in the control plane's process, functions in child processes, the client in this one. */
export async function openForge(database: BenchDatabase, log?: string): Promise<RecoverablePeer> {
  const open = () => startFleet(database.connection, "inside", functionsFor(log));
  let fleet = await open();
  return {
    name: "Forge",
    round: forgeRounds(database.pool, () => fleet),
    start: async (ids, steps) => {
      await Promise.all(ids.map((id) => fleet.client.workflow.startRun({ header: commandHeader(), definition: functionRun(steps, id) })));
    },
    kill: () => fleet.kill(),
    restart: async () => {
      const [killed, started] = [fleet, await open()];
      fleet = started;
      await killed.close();
    },
    completed: async () => {
      const { rows } = await database.pool.query<{ count: number }>("select count(*)::int as count from forge.listing where status = 'RUN_STATUS_COMPLETED'");
      return rows[0]?.count ?? 0;
    },
    close: () => fleet.close(),
  };
}
