import { commandHeader } from "@forge/client";
import { OnError, RunStatus, StepStatus, WorkflowService } from "@forge/protocol/workflow";
import { expect } from "vitest";
import type { Scenario } from "../scenario.ts";
import { accepted, refused } from "../steps/outcomes.ts";
import { joinOwnQueue } from "../steps/own-worker.ts";
import { failedRun, waitingRun } from "../steps/runs.ts";

const { replayRun, registerDefinition, getDefinition, listDefinitions, startRun, getRun } = WorkflowService.method;

export const SCENARIOS: readonly Scenario[] = [
  {
    group: "Runs",
    name: "a run that has ended is replayed, and one that has not is a conflict",
    methods: [replayRun, startRun],
    run: async (world) => {
      await joinOwnQueue(world);
      const client = await world.open();
      const { runId } = await failedRun(world);
      const replay = await accepted(client.call(replayRun, { runId, verifyState: true }));
      expect(replay).toMatchObject({ status: RunStatus.FAILED, mismatches: [], steps: [{ stepId: "absent", status: StepStatus.FAILED }] });
      const active = await accepted(client.call(startRun, { header: commandHeader(), ...waitingRun(world.queue) }));
      expect(await refused(client.call(replayRun, { runId: active.runId }))).toMatchObject({ reason: "RUN_ACTIVE" });
    },
  },
  {
    group: "Runs",
    name: "a definition is registered once, can't be changed, and starts runs by its name",
    methods: [registerDefinition, getDefinition, listDefinitions, startRun, getRun],
    run: async (world) => {
      await joinOwnQueue(world);
      const client = await world.open();
      const id = `d-${world.queue}`.slice(0, 64);
      const definition = { ...waitingRun(world.queue).definition, id, version: "v2" };
      await accepted(client.call(registerDefinition, { definition }));
      await accepted(client.call(registerDefinition, { definition }));
      const changed = { ...definition, onError: OnError.CONTINUE };
      expect(await refused(client.call(registerDefinition, { definition: changed }))).toMatchObject({ reason: "DEFINITION_EXISTS" });
      expect((await accepted(client.call(getDefinition, { workflow: id }))).registered?.definition).toMatchObject({ id, version: "v2" });
      const { runId } = await accepted(client.call(startRun, { header: commandHeader(), workflow: id, queue: world.queue }));
      expect((await accepted(client.call(getRun, { runId }))).run).toMatchObject({ workflowId: id, workflowVersion: "v2" });
      expect(await refused(client.call(startRun, { header: commandHeader(), workflow: `${id}@v3` }))).toMatchObject({ reason: "DEFINITION_NOT_FOUND" });
      expect((await accepted(client.call(listDefinitions, { pageSize: 500 }))).definitions.length).toBeGreaterThan(0);
    },
  },
];
