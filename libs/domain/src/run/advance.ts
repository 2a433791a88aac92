import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode, type ForgeError, type Usage, type Value } from "@forge/protocol/common";
import { RunCancelledSchema, RunCompletedSchema, RunFailedSchema, StepAttemptFailedSchema, StepCompletedSchema, StepFailedSchema } from "@forge/protocol/event";
import { OnError, RunStatus } from "@forge/protocol/workflow";
import { addUsage } from "../usage.ts";
import { beginAgentAgain, beginStep, requestToolAgain } from "./begin-step.ts";
import { type Next, nextInSequence, resolveBranch } from "./branch.ts";
import { runError, stepError } from "./errors.ts";
import { inlineBytes } from "./json.ts";
import { EXECUTIONS_MAX, STATE_OUTPUT_BYTES_MAX, STEP_EXECUTIONS_MAX } from "./limits.ts";
import { type RunRecorder, record } from "./recorder.ts";
import { attemptsOf, retryDelayMs } from "./retry.ts";
import { type CurrentStep, type RunState, type StepCall, type StepMemory, stepAt } from "./state.ts";

/** What is known of a successful attempt beside its output. */
export interface Measured {
  readonly handlerDurationMs?: bigint;
  readonly toolDurationMs?: bigint;
  readonly usage?: Usage;
}

/** Goes on until something is waited for or the run has ended. Steps that fail at once are passed over in a loop, at most as many as may be executed. */
export function proceed(run: RunRecorder, from: Next): void {
  let next = from;
  for (;;) {
    if (next.kind === "end") return completeRun(run);
    if (next.kind === "failure") return failRun(run, next.error);
    const bound = executionBound(run.state, next.position);
    if (bound !== undefined) return failRun(run, bound);
    const error = beginStep(run, next.position);
    if (error === undefined) return;
    next = recordStepFailure(run, error, undefined);
  }
}

/** An attempt succeeded: the output joins the state, and the branch is taken. */
export function completeStep(run: RunRecorder, output: Value, measured: Measured): void {
  const { state } = run;
  const current = currentOf(state);
  const replaced = (state.steps[current.position] as StepMemory).output;
  if (state.outputBytes - inlineBytes(replaced) + inlineBytes(output) > STATE_OUTPUT_BYTES_MAX) {
    const message = `the outputs of this run take more than ${STATE_OUTPUT_BYTES_MAX} bytes; return large values as artifacts`;
    return failAttempt(run, stepError(ErrorCode.RESOURCE_EXHAUSTED, "STEP_EXECUTION", current.stepId, message), { retry: false, usage: measured.usage });
  }
  const cancelling = state.status === RunStatus.CANCELLING;
  const branch = cancelling ? undefined : resolveBranch(state, current.position, output, run.context);
  const value = create(StepCompletedSchema, {
    output,
    handlerDurationMs: measured.handlerDurationMs ?? 0n,
    toolDurationMs: measured.toolDurationMs ?? 0n,
    usage: addUsage(current.usage, measured.usage),
    nextStepId: branch?.stepId ?? "",
    nextSource: branch?.source ?? "",
  });
  record(run, { case: "stepCompleted", value }, { stepId: current.stepId });
  if (branch === undefined) endCancelled(run);
  else proceed(run, branch.next);
}

/** How a failed attempt is to be taken. */
export interface FailedAttempt {
  /** False where trying again can't help or nobody may know what a second time would do. */
  readonly retry: boolean;
  /** Of a tool step: the call that failed, for the next one to repeat. */
  readonly call?: StepCall;
  readonly usage?: Usage;
}

/** An attempt failed: another follows by the step's policy, or the step has failed for good. */
export function failAttempt(run: RunRecorder, error: ForgeError, { retry, call, usage }: FailedAttempt): void {
  const { state } = run;
  const current = currentOf(state);
  if (state.status === RunStatus.CANCELLING) {
    recordStepFailure(run, error, usage);
    return endCancelled(run);
  }
  const policy = stepAt(state, current.position).retry;
  if (!retry || policy === undefined || current.attempt >= attemptsOf(policy)) return proceed(run, recordStepFailure(run, error, usage));
  const delayMs = retryDelayMs(policy, current.attempt, error);
  const nextAttemptAt = timestampFromMs(run.context.nowMs + delayMs);
  record(
    run,
    { case: "stepAttemptFailed", value: create(StepAttemptFailedSchema, { error, attempt: current.attempt, nextAttemptAt, usage }) },
    { stepId: current.stepId },
  );
  const again = currentOf(run.state);
  if (call !== undefined) requestToolAgain(run, again, call);
  else if (again.waiting && delayMs === 0) beginAgentAgain(run, again);
}

/** Nothing of the run is under way any more. */
export function endCancelled(run: RunRecorder): void {
  record(run, { case: "runCancelled", value: create(RunCancelledSchema) });
}

function recordStepFailure(run: RunRecorder, error: ForgeError, usage: Usage | undefined): Next {
  const { state } = run;
  const current = currentOf(state);
  record(run, { case: "stepFailed", value: create(StepFailedSchema, { error, usage: addUsage(current.usage, usage) }) }, { stepId: current.stepId });
  if (state.definition?.onError === OnError.CONTINUE) return nextInSequence(state, current.position);
  return { kind: "failure", error: runError(error, current.stepId) };
}

function completeRun(run: RunRecorder): void {
  const { steps, lastPosition, withErrors } = run.state;
  record(run, { case: "runCompleted", value: create(RunCompletedSchema, { output: steps[lastPosition]?.output, withErrors }) });
}

function failRun(run: RunRecorder, error: ForgeError): void {
  record(run, { case: "runFailed", value: create(RunFailedSchema, { error }) });
}

/** A branch may lead back, but not for ever. */
function executionBound(state: RunState, position: number): ForgeError | undefined {
  const { id } = stepAt(state, position);
  const ofStep = (state.steps[position] as StepMemory).executionCount;
  const message =
    ofStep >= STEP_EXECUTIONS_MAX
      ? `it was executed ${ofStep} times, which is the most that a run may: a branch leads back to it without end`
      : state.executionCount >= EXECUTIONS_MAX
        ? `the run has executed ${state.executionCount} steps, which is the most that it may: a branch leads back without end`
        : undefined;
  return message === undefined ? undefined : stepError(ErrorCode.RESOURCE_EXHAUSTED, "CIRCULAR_EXECUTION", id, message);
}

function currentOf(state: RunState): CurrentStep {
  if (state.current === undefined) throw new Error(`run ${state.runId} executes no step`);
  return state.current;
}
