import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Run, StepExecution } from "@forge/protocol/workflow";

/** When one execution of a step ran, in milliseconds from the run's start. */
export interface TimelineBar {
  readonly step: StepExecution;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Timeline {
  readonly bars: readonly TimelineBar[];
  /** From the run's start to its end, or to now; at least 1. */
  readonly totalMs: number;
}

/** When each step of a run ran; what runs still, runs until `nowMs`. */
export function timeline(run: Run, nowMs: number): Timeline {
  const start = at(run.createdAt) ?? at(run.steps[0]?.startedAt) ?? nowMs;
  const bars = run.steps.map((step) => {
    const fromMs = Math.max(0, (at(step.startedAt) ?? start) - start);
    return { step, fromMs, toMs: Math.max(fromMs, (at(step.finishedAt) ?? at(run.completedAt) ?? nowMs) - start) };
  });
  const end = (at(run.completedAt) ?? nowMs) - start;
  return { bars, totalMs: Math.max(1, end, ...bars.map(({ toMs }) => toMs)) };
}

function at(timestamp: Timestamp | undefined): number | undefined {
  return timestamp === undefined ? undefined : timestampMs(timestamp);
}
