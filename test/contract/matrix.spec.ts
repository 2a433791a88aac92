import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Driver, methodName } from "./suite/driver.ts";
import { expectKept, markOf } from "./suite/expect-kept.ts";
import { type Column, loadImplementations } from "./suite/implementations.ts";
import { type KnownFailure, readKnownFailing } from "./suite/known-failing.ts";
import { CLIENT_METHODS } from "./suite/methods.ts";
import { canRun, type DriverSlot, Patience, runScenarios } from "./suite/run-matrix.ts";
import { SCENARIOS } from "./suite/scenarios/index.ts";
import { contractPage, type Mark } from "./suite/table.ts";
import { type RunningTopology, TOPOLOGIES } from "./suite/topologies.ts";

// Every promise of the contract on every client implementation: each case is a test of its own. All implementations run a scenario at the same time, a few scenarios
// together. To try a part of it:
//
//   FORGE_CONTRACT_IMPLEMENTATIONS=python,go FORGE_CONTRACT_SCENARIOS=subscri npx vitest run --project system test/contract/matrix.spec.ts -t "one process"
//
// chooses implementations by name, and scenarios by a piece of their group or name. The page docs/reference/contract.md is written by `-u`, of the whole matrix.

const PAGE = path.join(import.meta.dirname, "../../docs/reference/contract.md");
/** Cases at a time: enough to keep the machine busy, few enough that none waits for its time to run out. */
const CASES_MAX = 45;
const LONGEST_SHOWN = 8;
const HOOK_MS_MAX = 900_000;
const IN_CI = (process.env["CI"] ?? "") !== "";

const chosenNames = (process.env["FORGE_CONTRACT_IMPLEMENTATIONS"] ?? "").split(",").filter((name) => name !== "");
const chosenPiece = process.env["FORGE_CONTRACT_SCENARIOS"] ?? "";
const isWhole = chosenNames.length === 0 && chosenPiece === "";

const columns = (await loadImplementations()).filter(({ name }) => chosenNames.length === 0 || chosenNames.includes(name));
const scenarios = SCENARIOS.filter(({ group, name }) => `${group}: ${name}`.includes(chosenPiece));
const scenarioNames = new Set(SCENARIOS.map(({ name }) => name));

interface Running extends DriverSlot {
  readonly column: Column;
  readonly first: Driver;
  readonly known: ReadonlyMap<string, KnownFailure>;
  stop(): Promise<void>;
}

/** Every driver that runs here, and why the others don't. */
const running: Running[] = [];
const missing = new Map<Column, string>();
const broken = new Map<Column, unknown>();
await Promise.all(columns.map((column) => start(column).catch((error: unknown) => broken.set(column, error))));
running.sort((a, b) => columns.indexOf(a.column) - columns.indexOf(b.column));

async function start(column: Column): Promise<void> {
  const launch = await column.start();
  if ("missing" in launch) {
    missing.set(column, launch.missing);
    return;
  }
  const first = await Driver.start(launch);
  let current = first;
  const entries = readKnownFailing(column.knownFailing, column.knownFailingFile, column.siblings, scenarioNames);
  const own = entries.filter(({ implementation }) => implementation === undefined || implementation === column.name);
  running.push({
    name: column.name,
    findsServer: column.findsServer ?? false,
    replacesServer: column.replacesServer ?? false,
    column,
    first,
    known: new Map(own.map((entry) => [entry.scenario, entry])),
    driver: async () => {
      if (current.lives) return current;
      const again = await column.start();
      if ("missing" in again) throw new Error(again.missing);
      current = await Driver.start(again);
      return current;
    },
    stop: () => current.stop(),
  });
}

const marks = new Map<string, Mark>();
const markKey = (topology: string, scenario: string, implementation: string) => `${topology}\n${scenario}\n${implementation}`;

function page(): string {
  return contractPage({
    implementations: columns,
    scenarios,
    topologies: TOPOLOGIES.map(({ name }) => name),
    markOf: (...key) => marks.get(markKey(...key)),
    knownFailures: running.flatMap(({ name, known }) => [...known.values()].map(({ scenario, reason }) => ({ implementation: name, scenario, reason }))),
    missingMethods: new Map(running.map(({ name, first }) => [name, CLIENT_METHODS.filter((method) => !first.has(method)).map(methodName)])),
  });
}

afterAll(async () => {
  console.log(page());
  for (const [column, reason] of missing) console.log(`${column.name} was not run: ${reason}`);
  await Promise.all(running.map((each) => each.stop()));
});

it("has scenarios with names of their own, which are sentences for a table", () => {
  expect(SCENARIOS).toHaveLength(scenarioNames.size);
  expect([...scenarioNames].filter((name) => /[|\n]/.test(name) || name !== name.trim())).toEqual([]);
});

describe.each(columns)("the client $name", (column) => {
  it("can be run here", (context) => {
    const reason = missing.get(column);
    if (reason !== undefined && !IN_CI) context.skip(reason);
    expect(reason, "in CI nothing is left out").toBeUndefined();
    expect(broken.get(column)).toBeUndefined();
  });
});

/** Scenarios in their order, so many at a time that their cases keep within the limit. */
const perGroup = Math.max(1, Math.floor(CASES_MAX / Math.max(1, running.length)));
const groups = Array.from({ length: Math.ceil(scenarios.length / perGroup) }, (_, index) => scenarios.slice(index * perGroup, (index + 1) * perGroup));

describe.each(TOPOLOGIES)("$name", (wiring) => {
  const topologyName = wiring.name;
  let topology: RunningTopology;
  let startedAtMs: number;
  const patience = new Patience();
  const durations: { readonly what: string; readonly ms: number }[] = [];
  beforeAll(async () => {
    topology = await wiring.start();
    startedAtMs = performance.now();
  }, HOOK_MS_MAX);
  afterAll(async () => {
    const longest = durations.toSorted((a, b) => b.ms - a.ms).slice(0, LONGEST_SHOWN);
    const lines = [{ what: topologyName, ms: performance.now() - startedAtMs }, ...longest].map(({ what, ms }) => `${(ms / 1_000).toFixed(1)} s: ${what}`);
    console.log(lines.join("\n"));
    await topology?.close();
  }, HOOK_MS_MAX);

  describe.each(groups.map((members) => ({ members })))("together", ({ members }) => {
    let results: Awaited<ReturnType<typeof runScenarios>>;
    beforeAll(async () => {
      results = await runScenarios(members, running, topology, patience, ({ name }, implementation, { error }) => {
        const known = running.find((each) => each.name === implementation)?.known.has(name) ?? false;
        return (error !== undefined) === known;
      });
      for (const [{ name }, cases] of results) {
        const [slowest] = [...cases].toSorted(([, a], [, b]) => b.durationMs - a.durationMs);
        if (slowest !== undefined) durations.push({ what: `${name} (${slowest[0]})`, ms: slowest[1].durationMs });
      }
    }, HOOK_MS_MAX);

    for (const scenario of members) {
      describe(`${scenario.group}: ${scenario.name}`, () => {
        for (const each of running) {
          const key = markKey(topologyName, scenario.name, each.name);
          if (!canRun(scenario, each, each.first)) {
            marks.set(key, "lacks");
            continue;
          }
          it(`on ${each.name}`, () => {
            const known = each.known.get(scenario.name);
            const result = results.get(scenario)?.get(each.name);
            if (result === undefined) throw new Error("it was not run");
            marks.set(key, markOf(result, known));
            expectKept(result, known, each.column.knownFailingFile);
          });
        }
      });
    }
  });
});

it("is what the page in the documentation shows", async (context) => {
  if (!isWhole) context.skip("only a part was run");
  if (missing.size > 0) context.skip(`not all clients can be run here: ${[...missing.values()].join("; ")}`);
  await expect(page()).toMatchFileSnapshot(PAGE);
});
