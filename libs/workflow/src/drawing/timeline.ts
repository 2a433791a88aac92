import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Run, type StepExecution, StepStatus } from "@forge/protocol/workflow";

/** When one execution of a step, or of one item of its list, ran, in milliseconds from the run's start. */
export interface TimelineBar {
  readonly step: StepExecution;
  /** The step's id; of an item, its place as well. */
  readonly label: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Timeline {
  readonly bars: readonly TimelineBar[];
  /** From the run's start to its end, or to now; at least 1. */
  readonly totalMs: number;
}

/**
 * When each step of a run ran, each list with its items after it; what runs still, runs until `nowMs`. Steps that were skipped, or taken over from another run,
 * took no time.
 */
export function timeline(run: Run, nowMs: number): Timeline {
  const start = at(run.createdAt) ?? at(run.steps[0]?.startedAt) ?? nowMs;
  const bars = inOrder(run.steps).map((step) => {
    const fromMs = Math.max(0, (at(step.startedAt) ?? start) - start);
    const label = step.itemIndex === undefined ? step.stepId : `${step.stepId} [${step.itemIndex}]`;
    return { step, label, fromMs, toMs: Math.max(fromMs, (at(step.finishedAt) ?? at(run.completedAt) ?? nowMs) - start) };
  });
  const end = (at(run.completedAt) ?? nowMs) - start;
  return { bars, totalMs: bars.reduce((most, { toMs }) => Math.max(most, toMs), Math.max(1, end)) };
}

function inOrder(steps: readonly StepExecution[]): StepExecution[] {
  const ran = steps.filter(({ status, inherited }) => status !== StepStatus.SKIPPED && !inherited);
  const items = Map.groupBy(
    ran.filter(({ groupIndex }) => groupIndex !== undefined),
    ({ groupIndex }) => groupIndex,
  );
  return ran
    .filter(({ groupIndex }) => groupIndex === undefined)
    .flatMap((step) => [step, ...(step.itemCount === undefined ? [] : (items.get(step.executionIndex) ?? []))]);
}

function at(timestamp: Timestamp | undefined): number | undefined {
  return timestamp === undefined ? undefined : timestampMs(timestamp);
}
