import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError } from "@forge/protocol/common";
import { RunCancelledSchema, RunCompletedSchema, RunFailedSchema, StepSkippedSchema } from "@forge/protocol/event";
import { RunStatus } from "@forge/protocol/workflow";
import { beginItem, beginStep, type EndedAtOnce, failAtOnce } from "./begin-step.ts";
import { resolveBranch } from "./branch.ts";
import { itemAt } from "./chunks.ts";
import { stepError } from "./errors.ts";
import { listsIn } from "./executions.ts";
import { executionsBound } from "./executions-bound.ts";
import { groupEnd } from "./for-each.ts";
import { PARALLEL_DEFAULT, STEP_EXECUTIONS_MAX } from "./limits.ts";
import { outputJson } from "./outputs.ts";
import { type RunRecorder, record } from "./recorder.ts";
import { completeStep, recordStepCancelled, recordStepFailure } from "./settle.ts";
import { type Execution, executionAt, isActive, isFailing, isGraph, isStopping, memoryAt, type RunState, stepAt } from "./state.ts";
import { endIdle } from "./stop.ts";
import { passedOver } from "./when.ts";

/**
 * Goes on until everything that may begin has begun and something is waited for, or the run has ended. Steps that fail at once are passed over in a loop,
 * at most as many as may be executed.
 */
export function advance(run: RunRecorder): void {
  while (isActive(run.state) && go(run)) {
    // Each round has recorded something, which may let the next thing begin.
  }
}

/** One thing; false where nothing is left to be decided now. */
function go(run: RunRecorder): boolean {
  const { state } = run;
  if (endIdle(run) || endGroup(run)) return true;
  if (isStopping(state)) return state.executions.length === 0 && end(run);
  if (state.paused || state.queued) return false;
  if (state.unresolved !== undefined) return resolveAgain(run, state.unresolved);
  if (state.executions.busy < limit(state)) {
    const position = itemAt(state.ready, 0);
    if (position !== undefined) return begin(run, position);
    const group = listsIn(state.executions).find((execution) => mayBeginItem(state, execution));
    if (group !== undefined) {
      settleAtOnce(run, beginItem(run, group));
      return true;
    }
  }
  return state.executions.length === 0 && state.ready.length === 0 && end(run);
}

function limit({ definition }: RunState): number {
  return definition === undefined || definition.parallelMax === 0 ? PARALLEL_DEFAULT : definition.parallelMax;
}

function mayBeginItem(state: RunState, execution: Execution): boolean {
  const { group, position, stopSeq } = execution;
  if (group === undefined || stopSeq > 0 || group.next >= group.count || isFailing(state, execution)) return false;
  const concurrency = stepAt(state, position).forEach?.concurrency ?? 0;
  return concurrency === 0 || group.open < concurrency;
}

function begin(run: RunRecorder, position: number): boolean {
  const { state } = run;
  const passed = isGraph(state) ? passedOver(state, position, run.context) : undefined;
  if (passed !== undefined) {
    if ("error" in passed) settleAtOnce(run, failAtOnce(run, position, passed.error));
    else record(run, { case: "stepSkipped", value: create(StepSkippedSchema, passed) }, { stepId: stepAt(state, position).id });
    return true;
  }
  const bound = executionBound(state, position);
  // Of a graph, others may be under way, and the run fails only once they are not.
  if (bound === undefined) settleAtOnce(run, beginStep(run, position));
  else if (isGraph(state)) settleAtOnce(run, failAtOnce(run, position, bound));
  else failRun(run, bound);
  return true;
}

/** What needs nobody's work has ended with its beginning. */
function settleAtOnce(run: RunRecorder, ended: EndedAtOnce | undefined): void {
  if (ended === undefined) return;
  const execution = executionAt(run.state, run.state.executionCount - 1) as Execution;
  if (ended.error === undefined) completeStep(run, execution, ended.output, {});
  else recordStepFailure(run, execution, ended.error, undefined);
}

/** A list whose items have all ended, or that was asked to stop, ends itself. */
function endGroup(run: RunRecorder): boolean {
  for (const execution of listsIn(run.state.executions)) {
    const end = groupEnd(run.state, execution);
    if (end === undefined) continue;
    if (end.kind === "completed") completeStep(run, execution, end.output, {});
    else if (end.kind === "failed") recordStepFailure(run, execution, end.error, undefined);
    else recordStepCancelled(run, execution);
    return true;
  }
  return false;
}

/** A completed step of a sequence whose branch led nowhere: what it reads has not changed, unless the run was stopped before it was looked at. */
function resolveAgain(run: RunRecorder, position: number): boolean {
  const branch = resolveBranch(run.state, position, run.context);
  switch (branch.next.kind) {
    case "failure":
      failRun(run, branch.next.error);
      return true;
    case "end":
      return end(run);
    case "step":
      return begin(run, branch.next.position);
  }
}

function end(run: RunRecorder): boolean {
  const { state } = run;
  if (state.status === RunStatus.CANCELLING) record(run, { case: "runCancelled", value: create(RunCancelledSchema) });
  else if (state.failure !== undefined) failRun(run, state.failure);
  else completeRun(run);
  return true;
}

function completeRun(run: RunRecorder): void {
  const { steps, lastPosition, withErrors } = run.state;
  record(run, { case: "runCompleted", value: create(RunCompletedSchema, { output: outputJson(itemAt(steps, lastPosition)), withErrors }) });
}

function failRun(run: RunRecorder, error: ForgeError): void {
  record(run, { case: "runFailed", value: create(RunFailedSchema, { error }) });
}

/** A branch may lead back, but not for ever. */
function executionBound(state: RunState, position: number): ForgeError | undefined {
  const { id } = stepAt(state, position);
  const ofStep = memoryAt(state, position).executionCount;
  if (ofStep >= STEP_EXECUTIONS_MAX) {
    const message = `it was executed ${ofStep} times, which is the most that a run may: a branch leads back to it without end`;
    return stepError(ErrorCode.RESOURCE_EXHAUSTED, "CIRCULAR_EXECUTION", id, message);
  }
  return executionsBound(state, id, 1);
}
