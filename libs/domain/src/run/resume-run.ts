import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { RunResumedSchema } from "@forge/protocol/event";
import { type ResumeRunRequest, ResumeRunResponseSchema, RunStatus, RunStatusSchema } from "@forge/protocol/workflow";
import type { Rejected } from "../decider.ts";
import { allOf } from "./chunks.ts";
import { queueAgain } from "./concurrency.ts";
import { refusal } from "./errors.ts";
import { type RunRecorder, record } from "./recorder.ts";
import type { RunResult } from "./run-command.ts";
import { isGraph, memoryAt, type RunState, stepAt } from "./state.ts";
import { unservedTools } from "./unserved-tools.ts";

/** Goes on with a failed run where it failed. */
export function resumeRun(run: RunRecorder, request: ResumeRunRequest): RunResult | Rejected {
  const { state, context } = run;
  const { runId } = state;
  if (state.status === RunStatus.UNSPECIFIED) {
    return refusal(ErrorCode.NOT_FOUND, "RUN_NOT_FOUND", `there is no run ${context.streamId}; list the runs to find its id`, context.streamId);
  }
  if (state.status !== RunStatus.FAILED) {
    const status = RunStatusSchema.value[state.status]?.name.replace("RUN_STATUS_", "") ?? "";
    return refusal(ErrorCode.CONFLICT, "RUN_NOT_FAILED", `run ${runId} is ${status}; only a failed run can be resumed`, runId);
  }
  const changed = integrity(state, request.workflowHash);
  if (changed !== undefined) return changed;
  const stepIds = againIds(state);
  record(run, { case: "runResumed", value: create(RunResumedSchema, { stepIds }) });
  queueAgain(run);
  return create(ResumeRunResponseSchema, { stepIds, warnings: state.definition === undefined ? [] : unservedTools(state.definition, state.queue, context) });
}

/** A run goes on only as the workflow that it began as. */
export function integrity(state: Pick<RunState, "runId" | "workflowId" | "workflowHash">, given: string): Rejected | undefined {
  if (given === "" || given === state.workflowHash) return undefined;
  const message = `the workflow "${state.workflowId}" has changed since run ${state.runId} was started (its hash was ${state.workflowHash.slice(0, 12)}, now it is ${given.slice(0, 12)}); start a new run, or put the workflow back`;
  return refusal(ErrorCode.CONFLICT, "WORKFLOW_INTEGRITY", message, state.runId);
}

/** Steps that are executed again: those that failed; of a graph also those that were stopped, and what was passed over because of either. */
function againIds(state: RunState): string[] {
  if (isGraph(state)) {
    return allOf(state.steps).flatMap(({ outcome, executionCount }, position) =>
      outcome === "failed" || (outcome === undefined && executionCount > 0) ? [stepAt(state, position).id] : [],
    );
  }
  // Of a sequence it is the one that ended it. Where the branch of one that had completed led nowhere, or the next could not begin, nothing is executed again.
  const last = state.lastPosition;
  if (state.unresolved !== undefined && memoryAt(state, state.unresolved).outcome === "failed") return [stepAt(state, state.unresolved).id];
  const isLast = state.unresolved === undefined && state.ready.length === 0 && last >= 0;
  return (isLast ? [last] : allOf(state.ready)).map((position) => stepAt(state, position).id);
}
