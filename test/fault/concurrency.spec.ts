import { timestampMs } from "@bufbuild/protobuf/wkt";
import { commandHeader, withRetry } from "@forge/client";
import { type Run, RunStatus } from "@forge/protocol/workflow";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { until } from "../harness/work.ts";

const RUNS = 48;
const KEYS = ["a", "b"];
const LIMIT = 3;
const KILLS = 4;

const definition = {
  id: "note",
  version: "v1",
  inputs: [{ name: "key" }],
  concurrency: { key: "{{ inputs.key }}", limit: LIMIT },
  steps: ["one", "two"].map((id) => ({
    id,
    kind: { case: "function" as const, value: { name: "test.note" } },
    inputs: { call: { kind: { case: "literalJson" as const, value: JSON.stringify({ delays: { "before-effect": 60 } }) } } },
  })),
};

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ controlPlanes: 2, executors: 2 });
});
afterAll(() => cluster?.close());

async function allRuns(): Promise<readonly Run[]> {
  const { runs } = await withRetry(() => cluster.client.workflow.listRuns({ pageSize: 500 }));
  return await Promise.all(runs.map(async ({ runId }) => (await withRetry(() => cluster.client.workflow.getRun({ runId }))).run as Run));
}

const isOver = ({ status }: Run): boolean => status === RunStatus.COMPLETED || status === RunStatus.FAILED || status === RunStatus.CANCELLED;

/** The most runs that were under way at one moment. */
function most(runs: readonly Run[]): number {
  const moments = runs.flatMap(({ startedAt, completedAt }) => [
    { atMs: startedAt === undefined ? 0 : timestampMs(startedAt), change: 1 },
    { atMs: completedAt === undefined ? 0 : timestampMs(completedAt), change: -1 },
  ]);
  let now = 0;
  let max = 0;
  // Within one millisecond, who ends comes before who begins.
  for (const { change } of moments.toSorted((a, b) => a.atMs - b.atMs || a.change - b.change)) max = Math.max(max, (now += change));
  return max;
}

it("a concurrency key is never held by more than its limit, over two control planes that are killed, and every run gets it", async () => {
  for (let index = 0; index < RUNS; index++) {
    const client = cluster.clients[index % 2] ?? cluster.client;
    const header = commandHeader(`run-${index}`);
    const inputs = { kind: { case: "json" as const, value: JSON.stringify({ key: KEYS[index % KEYS.length] }) } };
    await withRetry(() => client.workflow.startRun({ header, definition, inputs, labels: { key: KEYS[index % KEYS.length] as string } }));
  }
  const ended = async () => (await allRuns()).filter(isOver).length;
  for (let kill = 0; kill < KILLS; kill++) {
    const before = await ended();
    await cluster.controlPlanes[kill % 2]?.restart();
    await until("runs end again", async () => (await ended()) > before || before === RUNS);
  }
  await until("all have ended", async () => (await ended()) === RUNS);
  const runs = await allRuns();
  expect(runs.map(({ status }) => status)).toEqual(runs.map(() => RunStatus.COMPLETED));
  for (const key of KEYS) {
    const held = runs.filter(({ labels }) => labels["key"] === key);
    expect(held).toHaveLength(RUNS / KEYS.length);
    expect(most(held)).toBeLessThanOrEqual(LIMIT);
  }
}, 120_000);
