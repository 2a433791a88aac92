import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, type Value } from "@forge/protocol/common";
import {
  ToolCancelledSchema,
  ToolCompletedSchema,
  ToolFailedSchema,
  ToolReportedLateSchema,
  ToolSettledUnknownSchema,
  ToolStartedSchema,
} from "@forge/protocol/event";
import type { TaskFailure } from "@forge/protocol/worker";
import type { Rejected } from "../decider.ts";
import type { TaskLost, TaskReportedLate, TaskSettled, TaskStarted } from "../task.ts";
import { shorten } from "../text.ts";
import { recordGoAhead } from "./begin-step.ts";
import { refusal, reportedError, stepError } from "./errors.ts";
import { isIdempotent } from "./idempotent.ts";
import { executionOfTask } from "./keys.ts";
import { checkOutput } from "./output.ts";
import { type RunRecorder, record } from "./recorder.ts";
import { completeStep, failAttempt, recordStepCancelled } from "./settle.ts";
import { type Execution, type RunState, stepAt } from "./state.ts";

/** What the engine tells of the tasks of function and tool steps. Each returns a refusal, or undefined once it has recorded what follows. */

/** A worker is about to run the attempt. A second start is for an idempotent one whose first lease was lost. */
export function taskStarted(run: RunRecorder, command: TaskStarted): Rejected | undefined {
  const { state } = run;
  const execution = openTask(state, command.key);
  if (execution === undefined) return taskNotOpen(state, command.key);
  if (execution.stopSeq > 0) {
    return refusal(ErrorCode.CANCELLED, "RUN_CANCELLING", `run ${state.runId} was asked to stop this: settle task ${command.key} as cancelled`, state.runId);
  }
  if (command.start.case === "model" || (command.start.case === "tool" && execution.call === undefined)) return wrongKind(state, command.key);
  if (execution.started && !isIdempotent(state, execution)) {
    return refusal(ErrorCode.CONFLICT, "TASK_STARTED", `task ${command.key} was started before and is not idempotent`, state.runId);
  }
  if (execution.call === undefined) recordGoAhead(run, execution, command);
  else {
    const value = create(ToolStartedSchema, { worker: command.worker, epoch: command.epoch });
    record(run, { case: "toolStarted", value }, aboutCall(execution));
  }
  return undefined;
}

/** The attempt's one end. */
export function taskSettled(run: RunRecorder, { key, outcome }: TaskSettled): Rejected | undefined {
  const { state } = run;
  const execution = openTask(state, key);
  if (execution === undefined) return taskNotOpen(state, key);
  switch (outcome.case) {
    case "function":
      if (execution.call !== undefined) return wrongKind(state, key);
      if (mustStart(state, execution)) return taskNotStarted(state, key);
      settleOutput(run, execution, outcome.value.output, { handlerDurationMs: outcome.value.durationMs });
      return undefined;
    case "tool": {
      if (execution.call === undefined) return wrongKind(state, key);
      if (mustStart(state, execution)) return taskNotStarted(state, key);
      const { output, durationMs } = outcome.value;
      record(run, { case: "toolCompleted", value: create(ToolCompletedSchema, { output, durationMs }) }, aboutCall(execution));
      settleOutput(run, execution, output, { toolDurationMs: durationMs });
      return undefined;
    }
    case "failure":
      settleFailure(run, execution, outcome.value);
      return undefined;
    case "cancelled":
      settleCancelled(run, execution);
      return undefined;
    case "model":
    case "preview":
    case "inputRequired":
    case "hook":
    case "compaction":
    case "undo":
    case undefined:
      return wrongKind(state, key);
  }
}

function settleOutput(
  run: RunRecorder,
  execution: Execution,
  output: Value | undefined,
  measured: { handlerDurationMs?: bigint; toolDurationMs?: bigint },
): void {
  const checked = checkOutput(stepAt(run.state, execution.position), output, run.context);
  if (checked.ok) completeStep(run, execution, checked.value, measured);
  else failAttempt(run, execution, checked.error, { retry: true, call: execution.call });
}

function settleFailure(run: RunRecorder, execution: Execution, failure: TaskFailure): void {
  const error = reportedError(failure.error, "worker");
  if (failure.unknown && !isIdempotent(run.state, execution)) return settleUnknown(run, execution, error.message);
  recordCallFailure(run, execution, error, failure.durationMs);
  failAttempt(run, execution, error, { retry: true, call: execution.call });
}

/** Stopped, or never begun. Where nobody had asked for that, the attempt has failed. */
function settleCancelled(run: RunRecorder, execution: Execution): void {
  if (execution.stopSeq > 0) return stopAttempt(run, execution, "The worker has stopped it.");
  if (execution.started && !isIdempotent(run.state, execution)) return settleUnknown(run, execution, "its worker stopped it before it was done");
  const error = stepError(ErrorCode.CANCELLED, "STEP_EXECUTION", execution.stepId, "its worker gave it up before it was done");
  if (execution.call !== undefined)
    record(run, { case: "toolCancelled", value: create(ToolCancelledSchema, { reason: "The worker gave it up." }) }, aboutCall(execution));
  failAttempt(run, execution, error, { retry: true, call: execution.call });
}

/** Ends an execution that was asked to stop and is known not to run any more. */
export function stopAttempt(run: RunRecorder, execution: Execution, reason: string): void {
  if (execution.call !== undefined) record(run, { case: "toolCancelled", value: create(ToolCancelledSchema, { reason }) }, aboutCall(execution));
  recordStepCancelled(run, execution);
}

/** The lease was lost: an attempt that may have had an effect, and may not have it twice, is unknown; any other has failed. */
export function taskLost(run: RunRecorder, command: TaskLost): Rejected | undefined {
  const { state } = run;
  const execution = openTask(state, command.key);
  if (execution === undefined) return taskNotOpen(state, command.key);
  const lost = "its worker was lost";
  if (execution.started && !isIdempotent(state, execution)) {
    settleUnknown(run, execution, `${lost} after it had begun`);
    return undefined;
  }
  const error = stepError(ErrorCode.WORKER_LOST, "STEP_EXECUTION", execution.stepId, `${lost} while it held this attempt, as others were before it`);
  recordCallFailure(run, execution, error, 0n);
  failAttempt(run, execution, error, { retry: true, call: execution.call });
  return undefined;
}

/** Nobody can say what happened, so nobody may try again by himself. */
function settleUnknown(run: RunRecorder, execution: Execution, why: string): void {
  if (execution.call !== undefined)
    record(run, { case: "toolSettledUnknown", value: create(ToolSettledUnknownSchema, { reason: shorten(why, 1024) }) }, aboutCall(execution));
  const message = `${why}; what it did is unknown, so it is not tried again. Check its effects before you start the run anew`;
  failAttempt(run, execution, stepError(ErrorCode.WORKER_LOST, "UNKNOWN_EFFECT", execution.stepId, message), { retry: false });
}

function recordCallFailure(run: RunRecorder, execution: Execution, error: ForgeError, durationMs: bigint): void {
  if (execution.call === undefined) return;
  record(run, { case: "toolFailed", value: create(ToolFailedSchema, { error, durationMs }) }, aboutCall(execution));
}

/** Characters of a late answer that are kept. */
const PREVIEW_LENGTH_MAX = 256;

/** An answer after a tool call's end is put on record once. Functions leave no trace to be compared with, so theirs is refused. */
export function taskReportedLate(run: RunRecorder, command: TaskReportedLate): Rejected | undefined {
  const call = run.state.endedCalls.find((ended) => ended.key === command.key);
  if (call === undefined) return taskNotOpen(run.state, command.key);
  const value = create(ToolReportedLateSchema, { worker: command.worker, ...lateOutcome(command.outcome) });
  record(run, { case: "toolReportedLate", value }, { stepId: call.stepId, toolCallId: call.toolCallId });
  return undefined;
}

function lateOutcome(outcome: TaskReportedLate["outcome"]): { readonly outcome: string; readonly preview: string } {
  switch (outcome.case) {
    case "tool": {
      const kind = outcome.value.output?.kind;
      const text = kind?.case === "json" ? kind.value : kind?.case === "artifact" ? kind.value.preview : "";
      return { outcome: "completed", preview: shorten(text, PREVIEW_LENGTH_MAX) };
    }
    case "cancelled":
      return { outcome: "cancelled", preview: "" };
    case "failure":
      return { outcome: "failed", preview: shorten(outcome.value.error?.message ?? "", PREVIEW_LENGTH_MAX) };
    case "model":
    case "function":
    case "preview":
    case "inputRequired":
    case "hook":
    case "compaction":
    case "undo":
    case undefined:
      return { outcome: "failed", preview: "" };
  }
}

function aboutCall(execution: Execution): { readonly stepId: string; readonly toolCallId: string } {
  return { stepId: execution.stepId, toolCallId: execution.call?.toolCallId ?? "" };
}

/** The open attempt of a function or tool step with this key. */
function openTask(state: RunState, key: string): Execution | undefined {
  const execution = executionOfTask(state, key);
  if (execution === undefined || execution.group !== undefined) return undefined;
  const { kind } = stepAt(state, execution.position);
  return kind.case === "function" || kind.case === "tool" ? execution : undefined;
}

/** Whether the attempt may have no result yet: what is not idempotent begins only with a go-ahead that is on record. */
function mustStart(state: RunState, execution: Execution): boolean {
  return !execution.started && !isIdempotent(state, execution);
}

function taskNotStarted(state: RunState, key: string): Rejected {
  return refusal(ErrorCode.CONFLICT, "TASK_NOT_STARTED", `task ${key} of run ${state.runId} was settled without its start having been recorded`, state.runId);
}

function taskNotOpen(state: RunState, key: string): Rejected {
  return refusal(ErrorCode.CONFLICT, "TASK_NOT_OPEN", `task ${key} of run ${state.runId} has ended or was never given out; nothing was changed`, state.runId);
}

function wrongKind(state: RunState, key: string): Rejected {
  return refusal(ErrorCode.VALIDATION, "TASK_KIND", `task ${key} of run ${state.runId} is of another kind than what was reported`, state.runId);
}
