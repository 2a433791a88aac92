import { ErrorCode, type ForgeError } from "@forge/protocol/common";
import type { Event, RunCreated, RunForked } from "@forge/protocol/event";
import { OverwritePolicy, RunStatus } from "@forge/protocol/workflow";
import { chunksOf } from "./chunks.ts";
import { stepError } from "./errors.ts";
import { NO_EXECUTIONS } from "./executions.ts";
import { occurredAtMs } from "./open-executions.ts";
import { openAgain, withNothingReached } from "./readiness.ts";
import { initialRunState, memoryAt, positionOf, type RunState, type StepMemory } from "./state.ts";
import { remembered } from "./weights.ts";

export function created(payload: RunCreated, event: Event): RunState {
  const { definition } = payload;
  if (definition === undefined) throw new Error("a run was created without a definition");
  return withNothingReached({
    ...initialRunState(),
    runId: event.stream?.id ?? "",
    status: RunStatus.RUNNING,
    workflowId: definition.id,
    workflowVersion: definition.version,
    workflowHash: payload.workflowHash,
    definition,
    inputs: payload.inputs,
    labels: payload.labels,
    queue: payload.queue,
    modelOverride: payload.modelOverride,
    policy: payload.policy,
    overwritePolicy: payload.overwritePolicy || OverwritePolicy.ALLOW,
    startedBy: event.principal?.id ?? "",
    parent: payload.parent,
    depth: payload.depth,
    concurrency: payload.concurrencyKey === "" ? undefined : { key: payload.concurrencyKey, limit: payload.concurrencyLimit },
    heldKeys: payload.concurrencyKey === "" ? payload.heldConcurrencyKeys : [...payload.heldConcurrencyKeys, payload.concurrencyKey],
    priority: payload.priority,
    deadlineFromMs: occurredAtMs(event),
  });
}

/** The fork begins with what had come of the other run's steps, as if they had been executed here. */
export function forked(state: RunState, { origin, steps }: RunForked): RunState {
  let forkedState = state;
  for (const { stepId, executionCount, output, failed, skipped, items, hasItems } of steps) {
    const position = positionOf(state, stepId);
    if (position === undefined) throw new Error(`run ${state.runId} has no step ${stepId}`);
    const memory: StepMemory = {
      ...memoryAt(forkedState, position),
      executionCount,
      outcome: failed ? "failed" : skipped ? "skipped" : "completed",
      output: output?.kind.case === undefined ? undefined : output,
      items: hasItems ? items.map((item) => (item.kind.case === undefined ? undefined : item)) : undefined,
    };
    forkedState = remembered(forkedState, position, memory);
  }
  return openAgain(forkedState, [origin?.stepId ?? ""]);
}

/** What only a run that goes on, or may be resumed, needs is let go, so that ended runs are cheap to keep in memory. */
export function ended(state: RunState, status: RunStatus): RunState {
  return {
    ...state,
    status,
    definition: undefined,
    inputs: undefined,
    steps: chunksOf<StepMemory>([]),
    outputBytes: 0,
    artifactOutputCount: 0,
    ready: chunksOf<number>([]),
    executions: NO_EXECUTIONS,
    signals: [],
    failure: undefined,
    paused: false,
    queued: false,
  };
}

export function deadlineError({ runId }: RunState): ForgeError {
  return stepError(ErrorCode.DEADLINE_EXCEEDED, "RUN_DEADLINE", "", `the run took longer than its workflow allows; resume it to go on: forge resume ${runId}`);
}
