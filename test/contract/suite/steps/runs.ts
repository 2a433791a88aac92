import { commandHeader } from "@forge/client";
import { OnError, RunStatus } from "@forge/protocol/workflow";
import { until } from "../../../harness/work.ts";
import type { World } from "../scenario.ts";
import { joinOwnQueue, OWN_FUNCTION } from "./own-worker.ts";

/** A run whose one step nobody does. */
export function waitingRun(queue: string) {
  const steps = [{ id: "wait", kind: { case: "function" as const, value: { name: OWN_FUNCTION } } }];
  return { definition: { id: "waiting", version: "v1", onError: OnError.FAIL_FAST, steps }, queue };
}

/** The same, started. */
export async function startedRun(world: World): Promise<string> {
  await joinOwnQueue(world);
  return (await world.reference.workflow.startRun({ header: commandHeader(), ...waitingRun(world.queue) })).runId;
}

/** A run that has failed, at a step whose tool nobody serves. */
export async function failedRun(world: World): Promise<{ readonly runId: string; readonly stepId: string; readonly workflowHash: string }> {
  const steps = [{ id: "absent", kind: { case: "tool" as const, value: { tool: "suite.absent" } } }];
  const definition = { id: "failing", version: "v1", onError: OnError.FAIL_FAST, steps };
  const { runId } = await world.reference.workflow.startRun({ header: commandHeader(), definition, queue: world.queue });
  const run = async () => (await world.reference.workflow.getRun({ runId })).run;
  await until("the run has failed", async () => (await run())?.status === RunStatus.FAILED);
  return { runId, stepId: "absent", workflowHash: (await run())?.workflowHash ?? "" };
}
