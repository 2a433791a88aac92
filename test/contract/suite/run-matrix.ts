import type { Driver } from "./driver.ts";
import { type CaseResult, runCase } from "./run-case.ts";
import type { Scenario } from "./scenario.ts";
import { SharedRestart } from "./shared-restart.ts";
import type { RunningTopology } from "./topologies.ts";

/** Cases of one topology that are tried again: more than a busy machine explains are as they are, and the run comes to its end. */
const AGAIN_MAX = 12;

/** How many cases may still be tried again. */
export class Patience {
  left = AGAIN_MAX;
}

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
  patience: Patience,
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
      if (first === undefined || isAsKnown(scenario, slot.name, first) || patience.left === 0) continue;
      if (patience.left-- === AGAIN_MAX) console.log(["The servers had written:", ...topology.log()].join("\n"));
      const alone = await runCase(scenario, await slot.driver(), topology, restart);
      console.log(`${scenario.name}, on ${slot.name}: tried again by itself, after ${String(first.error)}`);
      cases.set(slot.name, alone);
    }
  }
  return results;
}
