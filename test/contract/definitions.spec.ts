import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { commandHeader } from "@forge/client";
import { RunStatus, type WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { refusalOf } from "../harness/refusal.ts";
import { runEnded } from "../harness/work.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ controlPlanes: 2, executors: 1 });
});
afterAll(() => cluster?.close());

function definition(id: string, version: string, more: MessageInitShape<typeof WorkflowDefinitionSchema> = {}) {
  return {
    id,
    version,
    steps: [
      {
        id: "note",
        kind: { case: "function" as const, value: { name: "test.note" } },
        inputs: { call: { kind: { case: "literalJson" as const, value: "{}" } } },
      },
    ],
    ...more,
  };
}

const workflows = (replica = 0) => (cluster.clients[replica] ?? cluster.client).workflow;
const register = (id: string, version: string, more?: MessageInitShape<typeof WorkflowDefinitionSchema>, replica = 0) =>
  workflows(replica).registerDefinition({ definition: definition(id, version, more) });

async function started(workflow: string, commandId: string = randomUUID(), replica = 0) {
  const { runId } = await workflows(replica).startRun({ header: commandHeader(commandId), workflow });
  await runEnded(cluster.client, runId);
  return (await workflows(replica).getRun({ runId })).run;
}

it("a registered version never changes; the same again, or its text laid out otherwise, is the same", async () => {
  const racing = await Promise.all([0, 1, 0, 1].map((replica) => register("same", "v1", { workflowYaml: `id: same # ${replica}` }, replica)));
  const hash = racing[0]?.registered?.workflowHash;
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(racing.map(({ registered }) => registered)).toEqual(racing.map(() => racing[0]?.registered));
  expect(racing[0]?.registered).toMatchObject({ workflowId: "same", workflowVersion: "v1", createdBy: "tester" });
  expect(await refusalOf(register("same", "v1", { parallelMax: 3 }, 1))).toBe("CONFLICT DEFINITION_EXISTS");
  expect((await workflows(1).getDefinition({ workflow: "same@v1" })).registered).toMatchObject({
    workflowHash: hash,
    definition: { id: "same", parallelMax: 0 },
  });
});

it("a run is started by name, of the highest version or of the one that is named, and keeps it", async () => {
  for (const version of ["v9", "v10", "v10.1"]) await register("named", version);
  const run = await started("named", randomUUID(), 1);
  expect(run).toMatchObject({ workflowId: "named", workflowVersion: "v10.1", status: RunStatus.COMPLETED });
  expect(run?.workflowHash).toBe((await workflows().getDefinition({ workflow: "named" })).registered?.workflowHash);
  expect(await started("named@v9")).toMatchObject({ workflowVersion: "v9" });
});

it("a start that is sent again is the same run, whatever has been registered since, and another start under its id is refused", async () => {
  await register("again", "v1");
  const commandId = randomUUID();
  const first = await started("again", commandId);
  await register("again", "v2");
  expect((await started("again", commandId, 1))?.runId).toBe(first?.runId);
  expect((await started("again"))?.workflowVersion).toBe("v2");
  const other = { header: commandHeader(commandId), workflow: "again@v1" };
  expect(await refusalOf(workflows().startRun(other))).toBe("CONFLICT COMMAND_ID_REUSED");
  const at = randomUUID();
  const both = await Promise.all([0, 1, 0, 1].map((replica) => workflows(replica).startRun({ header: commandHeader(at), workflow: "again" })));
  expect(new Set(both.map(({ runId }) => runId)).size).toBe(1);
});

it("what can't be is refused by name", async () => {
  await register("served", "v1", { steps: [{ id: "gone", kind: { case: "function", value: { name: "nobody.serves" } } }] });
  const start = (request: object) => refusalOf(workflows().startRun({ header: commandHeader(), ...request }));
  expect(await start({ workflow: "served" })).toBe("VALIDATION FUNCTION_NOT_SERVED");
  expect(await start({ workflow: "never" })).toBe("NOT_FOUND DEFINITION_NOT_FOUND");
  expect(await start({ workflow: "served@v2" })).toBe("NOT_FOUND DEFINITION_NOT_FOUND");
  for (const workflow of ["@", "@v1", "a@", "a@v1@v2", "x".repeat(200), "__proto__"]) expect(await start({ workflow })).toBe("NOT_FOUND DEFINITION_NOT_FOUND");
  expect(await start({ workflow: "served", definition: definition("served", "v1") })).toBe("VALIDATION");
  expect(await start({})).toBe("VALIDATION");
  expect(await start({ workflow: "x\0" })).toBe("VALIDATION");
  expect(await refusalOf(workflows().getDefinition({}))).toBe("VALIDATION");
  expect(await refusalOf(workflows().registerDefinition({}))).toBe("VALIDATION WORKFLOW_VALIDATION");
  expect(await refusalOf(register("a b", "v1"))).toBe("VALIDATION WORKFLOW_VALIDATION");
  expect(await refusalOf(register("ok", "latest"))).toBe("VALIDATION WORKFLOW_VALIDATION");
  expect(await refusalOf(register("ok", "v1", { steps: [] }))).toBe("VALIDATION WORKFLOW_VALIDATION");
  expect(await refusalOf(workflows().listDefinitions({ pageToken: "nonsense" }))).toBe("VALIDATION");
});

it("definitions are listed in pages, without their content", async () => {
  for (const version of ["v1", "v2", "v3"]) await register("paged", version);
  const versions: string[] = [];
  for (let pageToken = ""; ; ) {
    const page = await workflows().listDefinitions({ workflowId: "paged", pageSize: 2, pageToken });
    versions.push(...page.definitions.map(({ workflowVersion }) => workflowVersion));
    expect(page.definitions.every((one) => one.definition === undefined)).toBe(true);
    if (page.nextPageToken === "") break;
    pageToken = page.nextPageToken;
  }
  expect(versions).toEqual(["v1", "v2", "v3"]);
});
