import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createSandbox, probeSandbox, runProcess, type SandboxOptions } from "@forge/tools";
import type { Row, Section } from "../../report/row.ts";
import type { Scale } from "../../scale.ts";
import { median, spread } from "../../statistics.ts";

const NOTE =
  "From the decision to run `true` until nothing of it is left, one at a time: without the sandbox, in it, and in it with the proxy of the network. The first command of each, for which the sandbox is tried, is not counted.";

const SANDBOX_MS_MAX = 60;
const PROXY_MS_MAX = 150;
/** A process and its sandbox take long enough that a quarter of the repetitions tells as much. */
const REPETITIONS_SHARE = 0.25;

const TITLE = "Sandbox";

const KINDS: Readonly<Record<"without" | "sandbox" | "proxy", Partial<SandboxOptions>>> = {
  without: { policy: "off" },
  sandbox: { policy: "required" },
  proxy: { policy: "required", network: { allow: ["example.org"] } },
};

/** Milliseconds of a command's whole life in each way. Where this machine lacks part of the sandbox, the section says what, and has no numbers. */
export async function measureSandboxStart(scale: Scale): Promise<Section> {
  const { level, missing } = await probeSandbox();
  if (level !== "enforced") return notMeasured(missing);
  const workspace = await mkdtemp(path.join(tmpdir(), "forge-bench-sandbox-"));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(workspace, { recursive: true, force: true }));
  const ways = Object.values(KINDS).map((options) => {
    const sandbox = createSandbox({ workspace, ...options });
    cleanup.defer(() => sandbox.close());
    return { sandbox, medians: [] as number[] };
  });
  const milliseconds = async (way: (typeof ways)[number]): Promise<number> => {
    const began = performance.now();
    const { exitCode } = await runProcess({ command: ["true"], cwd: workspace, enclosure: await way.sandbox.enclosure({ access: "write" }) });
    if (exitCode !== 0) throw new Error(`true ended with ${exitCode}`);
    return performance.now() - began;
  };
  for (const way of ways) await milliseconds(way);
  for (let round = 0; round < scale.rounds; round++) {
    const values = ways.map(() => [] as number[]);
    // In turns, so that whatever else the machine does meets all of them.
    for (let index = 0; index < scale.repetitions * REPETITIONS_SHARE; index++)
      for (const [at, way] of ways.entries()) values[at]?.push(await milliseconds(way));
    for (const [at, way] of ways.entries()) way.medians.push(median(values[at] ?? []));
  }
  const [without = [], sandbox = [], proxy = []] = ways.map(({ medians }) => medians);
  const beyond = (medians: readonly number[]): number[] => medians.map((value, round) => value - (without[round] as number));
  return {
    title: TITLE,
    note: NOTE,
    rows: [
      { name: "a command without the sandbox", unit: "ms", value: spread(without) },
      { name: "a command in the sandbox", unit: "ms", value: spread(sandbox) },
      row("the sandbox by itself", beyond(sandbox), SANDBOX_MS_MAX),
      { name: "a command in the sandbox with the proxy", unit: "ms", value: spread(proxy) },
      row("the sandbox with the proxy by itself", beyond(proxy), PROXY_MS_MAX),
    ],
  };
}

/** What stands in the place of numbers where there is no sandbox to measure; `missing` in words for people. */
export function notMeasured(missing: readonly string[]): Section {
  const none = [Number.NaN];
  return {
    title: TITLE,
    note: `Not measured: this machine lacks ${missing.join(", ")}.`,
    rows: [row("the sandbox by itself, not measured", none, SANDBOX_MS_MAX), row("the sandbox with the proxy by itself, not measured", none, PROXY_MS_MAX)],
  };
}

function row(name: string, values: readonly number[], msMax: number): Row {
  return { name, unit: "ms", value: spread(values), target: { text: `at most ${msMax} ms`, isMet: median(values) <= msMax } };
}
