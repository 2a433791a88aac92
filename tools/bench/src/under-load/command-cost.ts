import type pg from "pg";
import { measure } from "../load.ts";
import { comparedRow, valueRow } from "../report/compare.ts";
import type { Row } from "../report/row.ts";
import type { Fleet } from "../server/fleet.ts";
import { quantile } from "../statistics.ts";
import { usedBy } from "./usage.ts";

/** What one command costs, of many one after the other. */
export interface CommandCost {
  readonly p50Ms: number;
  readonly serverCpuUs: number;
  readonly databaseCpuUs: number;
  readonly statements: number;
  readonly logBytes: number;
}

export async function commandCost(pool: pg.Pool, fleet: Fleet, count: number, command: () => Promise<unknown>): Promise<CommandCost> {
  const { result, used } = await usedBy(pool, [fleet], () => measure(1, { seconds: 120, countMax: count }, async () => void (await command())));
  return {
    p50Ms: quantile(result.latenciesMs, 0.5),
    serverCpuUs: used.serverCpuUs / result.count,
    databaseCpuUs: used.databaseCpuUs / result.count,
    statements: used.statements / result.count,
    logBytes: used.logBytes / result.count,
  };
}

/** Rounds at sizes that grow: each beside the smallest, which comes first. */
export function growthRows(what: string, taken: Readonly<Record<string, readonly CommandCost[]>>): Row[] {
  const [[first, smallest], ...others] = Object.entries(taken) as [[string, readonly CommandCost[]], ...[string, readonly CommandCost[]][]];
  const rows = (name: string, unit: Row["unit"], of: (cost: CommandCost) => number): Row[] => [
    valueRow(`${first}: ${what}: ${name}`, unit, smallest.map(of)),
    ...others.map(([size, costs]) => comparedRow(`${size}: ${what}: ${name}`, unit, costs.map(of), { name: first, values: smallest.map(of) })),
  ];
  return [
    ...rows("p50", "ms", ({ p50Ms }) => p50Ms),
    ...rows("control plane", "µs", ({ serverCpuUs }) => serverCpuUs),
    ...rows("database", "µs", ({ databaseCpuUs }) => databaseCpuUs),
    ...rows("statements", "statements", ({ statements }) => statements),
    ...rows("log", "bytes", ({ logBytes }) => logBytes),
  ];
}
