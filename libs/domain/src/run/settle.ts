import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode, type ForgeError, type Usage, type Value } from "@forge/protocol/common";
import { StepAttemptFailedSchema, StepCancelledSchema, StepCompletedSchema, StepFailedSchema } from "@forge/protocol/event";
import { OverwritePolicy } from "@forge/protocol/workflow";
import { fractionOf } from "../fraction-of.ts";
import { addUsage } from "../usage.ts";
import { beginAgain, requestToolAgain } from "./begin-step.ts";
import { goesOnAfter, resolveBranch, withoutOutput } from "./branch.ts";
import { stepError } from "./errors.ts";
import { inlineBytes } from "./json.ts";
import { idempotencyKey } from "./keys.ts";
import { STATE_OUTPUT_BYTES_MAX } from "./limits.ts";
import { outputOf } from "./outputs.ts";
import { overwrites } from "./overwrite.ts";
import { type RunRecorder, record } from "./recorder.ts";
import { attemptsOf, retryDelayMs } from "./retry.ts";
import { type Execution, executionAt, isGraph, isStopping, memoryAt, type RunState, type StepCall, stepAt } from "./state.ts";

/** What is known of a successful attempt beside its output. */
export interface Measured {
  readonly handlerDurationMs?: bigint;
  readonly toolDurationMs?: bigint;
  readonly usage?: Usage;
}

/** An attempt succeeded: the output joins the state, and in a sequence the branch is taken. */
export function completeStep(run: RunRecorder, execution: Execution, output: Value | undefined, measured: Measured): void {
  const { state } = run;
  const { stepId, position, executionIndex, item } = execution;
  if (grownTo(state, execution, output) > STATE_OUTPUT_BYTES_MAX) {
    const message = `the outputs of this run take more than ${STATE_OUTPUT_BYTES_MAX} bytes; return large values as artifacts`;
    return failAttempt(run, execution, stepError(ErrorCode.RESOURCE_EXHAUSTED, "STEP_EXECUTION", stepId, message), { retry: false, usage: measured.usage });
  }
  const overwrote = overwrites(state, execution, output);
  if (overwrote && state.overwritePolicy === OverwritePolicy.STRICT) {
    const message =
      "its output would take the place of another one that it has, which overwrite_policy strict does not allow: let no branch lead back to it, or allow it";
    return failAttempt(run, execution, stepError(ErrorCode.VALIDATION, "STEP_EXECUTION", stepId, message), { retry: false, usage: measured.usage });
  }
  const branches = item === undefined && !isGraph(state) && !isStopping(state);
  const branch = branches ? resolveBranch(state, position, run.context, { position, ...outputOf(execution, output) }) : undefined;
  const value = create(StepCompletedSchema, {
    output,
    handlerDurationMs: measured.handlerDurationMs ?? 0n,
    toolDurationMs: measured.toolDurationMs ?? 0n,
    usage: addUsage(execution.usage, measured.usage),
    nextStepId: branch?.stepId ?? "",
    nextSource: branch?.source ?? "",
    executionIndex,
    overwrote,
  });
  record(run, { case: "stepCompleted", value }, { stepId });
}

function grownTo(state: RunState, { position, item, group }: Execution, output: Value | undefined): number {
  // Items were weighed as they came.
  if (group !== undefined) return 0;
  const replaced = item === undefined ? inlineBytes(memoryAt(state, position).output) : 0;
  return state.outputBytes - replaced + inlineBytes(output);
}

/** How a failed attempt is to be taken. */
export interface FailedAttempt {
  /** False where trying again can't help or nobody may know what a second time would do. */
  readonly retry: boolean;
  /** Of a tool step: the call that failed, for the next one to repeat. */
  readonly call?: StepCall;
  readonly usage?: Usage;
}

/** An attempt failed: another follows by the step's policy, or the execution has failed for good. */
export function failAttempt(run: RunRecorder, execution: Execution, error: ForgeError, { retry, call, usage }: FailedAttempt): void {
  const { executionIndex, attempt, stepId } = execution;
  const policy = stepAt(run.state, execution.position).retry;
  const goesOn = execution.stopSeq === 0 && retry && policy !== undefined && attempt < attemptsOf(policy);
  if (!goesOn) return recordStepFailure(run, execution, error, usage);
  const delayMs = retryDelayMs(policy, attempt, error, fractionOf(run.context, idempotencyKey(run.state.runId, execution), attempt));
  const nextAttemptAt = timestampFromMs(run.context.nowMs + delayMs);
  record(run, { case: "stepAttemptFailed", value: create(StepAttemptFailedSchema, { error, attempt, nextAttemptAt, usage, executionIndex }) }, { stepId });
  const again = executionAt(run.state, executionIndex) as Execution;
  if (call !== undefined) requestToolAgain(run, again, call);
  else if (again.waiting && delayMs === 0) beginAgain(run, again);
}

/** The execution has failed for good. */
export function recordStepFailure(run: RunRecorder, execution: Execution, error: ForgeError, usage: Usage | undefined): void {
  const { executionIndex, stepId, position } = execution;
  const branch = goesOnAfter(run.state, execution) ? resolveBranch(run.state, position, run.context, withoutOutput(position)) : undefined;
  const next = branch === undefined ? {} : { nextStepId: branch.stepId, nextSource: branch.source };
  record(run, { case: "stepFailed", value: create(StepFailedSchema, { error, usage: addUsage(execution.usage, usage), executionIndex, ...next }) }, { stepId });
}

/** The execution was stopped and is known not to run any more. */
export function recordStepCancelled(run: RunRecorder, { executionIndex, stepId, usage: before }: Execution, usage?: Usage): void {
  record(run, { case: "stepCancelled", value: create(StepCancelledSchema, { executionIndex, usage: addUsage(before, usage) }) }, { stepId });
}
