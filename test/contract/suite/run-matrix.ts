import type { Driver } from "./driver.ts";
import { type CaseResult, runCase } from "./run-case.ts";
import type { Scenario } from "./scenario.ts";
import { SharedRestart } from "./shared-restart.ts";
import type { RunningTopology } from "./topologies.ts";

/** A driver that may have to be started again. */
export interface DriverSlot {
  readonly name: string;
  readonly findsServer: boolean;
  readonly replacesServer: boolean;
  /** The running one; another one where the last had to be ended. */
  driver(): Promise<Driver>;
}

/** Whether an implementation has what a scenario is about. */
export function canRun(scenario: Scenario, slot: Pick<DriverSlot, "findsServer" | "replacesServer">, driver: Pick<Driver, "has">): boolean {
  if ((scenario.bringsServer === true && slot.findsServer) || (scenario.breaksServer === true && slot.replacesServer)) return false;
  return scenario.methods.every((method) => driver.has(method));
}

/**
 * What came of some scenarios on every implementation that can run them, all at the same time: by scenario, then by implementation. What is not as it is known to be is tried once more by
 * itself: a promise that is broken is broken then, too, and a machine that had too much to do at once is told apart from it.
 */
export async function runScenarios(
  scenarios: readonly Scenario[],
  slots: readonly DriverSlot[],
  topology: RunningTopology,
  isAsKnown: (scenario: Scenario, implementation: string, result: CaseResult) => boolean,
): Promise<ReadonlyMap<Scenario, ReadonlyMap<string, CaseResult>>> {
  const drivers = await Promise.all(slots.map(async (slot) => ({ slot, driver: await slot.driver() })));
  const restart = new SharedRestart(() => topology.restart());
  const entries = scenarios.map(async (scenario) => {
    const able = drivers.filter(({ slot, driver }) => canRun(scenario, slot, driver));
    const results = able.map(async ({ slot, driver }) => [slot.name, await runCase(scenario, driver, topology, restart)] as const);
    return [scenario, new Map(await Promise.all(results))] as const;
  });
  const results = new Map(await Promise.all(entries));
  for (const [scenario, cases] of results) {
    for (const slot of slots) {
      const first = cases.get(slot.name);
      if (first === undefined || isAsKnown(scenario, slot.name, first)) continue;
      const alone = await runCase(scenario, await slot.driver(), topology, restart);
      console.log(`${scenario.name}, on ${slot.name}: tried again by itself, after ${String(first.error)}`);
      cases.set(slot.name, alone);
    }
  }
  return results;
}
