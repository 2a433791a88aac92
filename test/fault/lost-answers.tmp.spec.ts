import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { createSession, factsOf, runEnded, startRun, startTurn, threeSteps, turnEnded, useTool } from "../harness/work.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.close());

it("smoke", async () => {
  const s = await createSession(cluster.client);
  const t = await startTurn(cluster.client, s, useTool("test.append", { pieces: 3 }));
  const events = await turnEnded(cluster.client, s, t);
  console.log(factsOf(events), events.length);
  const r = await startRun(cluster.client, threeSteps());
  const re = await runEnded(cluster.client, r);
  console.log(factsOf(re));
  for (const stream of await cluster.inspector.streams()) expect(await cluster.inspector.violations(stream, true)).toStrictEqual([]);
  console.log(await cluster.effects());
});
