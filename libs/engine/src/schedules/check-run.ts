import { runDecider } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import type { StartRunRequest } from "@forge/protocol/workflow";
import type { Store } from "../ports/index.ts";
import { checkLabels, LABELS_MAX } from "../services/check.ts";
import { deriveId, newId, sha256Hex } from "../stream/identity.ts";
import { SCHEDULE_LABEL } from "./schedule-runs.ts";

/**
 * What a schedule is to start, checked as its start would be, workers aside: nothing happens. Errors: validation, as WorkflowService.StartRun has it: its fields are named as they are
 * there, without `spec.run` before them.
 */
export async function checkRun(options: {
  readonly store: Pick<Store, "getArtifact">;
  readonly namespace: string;
  readonly scheduleId: string;
  readonly run: StartRunRequest | undefined;
}): Promise<StartRunRequest> {
  const { store, namespace, scheduleId, run } = options;
  if (run?.definition === undefined) throw ForgeError.validation("spec.run.definition", "spec.run.definition is missing");
  if (run.workflow !== "") throw ForgeError.validation("spec.run.workflow", "spec.run.workflow: a schedule keeps its workflow whole, as spec.run.definition");
  checkLabels(run.labels);
  if (Object.keys(run.labels).length >= LABELS_MAX || Object.hasOwn(run.labels, SCHEDULE_LABEL)) {
    throw ForgeError.validation("spec.run.labels", `spec.run.labels: at most ${LABELS_MAX - 1}, and ${SCHEDULE_LABEL} is given by the schedule`);
  }
  const template: StartRunRequest = { ...run, header: undefined };
  const state = runDecider.initial();
  const artifacts = new Map<string, string>();
  for (const hash of runDecider.needs(state, template)) {
    const stored = await store.getArtifact(namespace, hash);
    if (stored !== undefined) artifacts.set(hash, new TextDecoder().decode(stored.content));
  }
  const nowMs = Date.now();
  const decision = runDecider.decide(state, template, {
    namespace,
    streamId: newId(nowMs),
    principal: `schedule:${scheduleId}`,
    commandId: "schedule-check",
    nowMs,
    seq: 0,
    newId: () => newId(nowMs),
    deriveId: (...parts) => deriveId(namespace, ...parts),
    sha256: sha256Hex,
    artifact: (hash) => artifacts.get(hash),
    tools: () => [],
    serves: () => false,
  });
  if ("rejection" in decision) throw ForgeError.from({ ...decision.rejection, origin: decision.rejection.origin || "control-plane" });
  return template;
}
