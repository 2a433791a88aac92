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
import { RunStatus } from "@forge/protocol/workflow";
import type { Rejected } from "../decider.ts";
import type { TaskLost, TaskReportedLate, TaskSettled, TaskStarted } from "../task.ts";
import { shorten } from "../text.ts";
import { completeStep, endCancelled, failAttempt } from "./advance.ts";
import { recordGoAhead } from "./begin-step.ts";
import { refusal, reportedError, stepError } from "./errors.ts";
import { isIdempotent } from "./idempotent.ts";
import { stepTaskKey } from "./keys.ts";
import { checkOutput } from "./output.ts";
import { type RunRecorder, record } from "./recorder.ts";
import { type CurrentStep, type RunState, stepAt } from "./state.ts";

/** What the engine tells of the tasks of function and tool steps. Each returns a refusal, or undefined once it has recorded what follows. */

/** A worker is about to run the attempt. A second start is for an idempotent one whose first lease was lost. */
export function taskStarted(run: RunRecorder, command: TaskStarted): Rejected | undefined {
  const { state } = run;
  const current = openTask(state, command.key);
  if (current === undefined) return taskNotOpen(state, command.key);
  if (state.status === RunStatus.CANCELLING) {
    return refusal(ErrorCode.CANCELLED, "RUN_CANCELLING", `run ${state.runId} was asked to stop: settle task ${command.key} as cancelled`, state.runId);
  }
  if (command.start.case === "model" || (command.start.case === "tool" && current.call === undefined)) return wrongKind(state, command.key);
  if (current.started && !isIdempotent(state, current)) {
    return refusal(ErrorCode.CONFLICT, "TASK_STARTED", `task ${command.key} was started before and is not idempotent`, state.runId);
  }
  if (current.call === undefined) recordGoAhead(run, current, command);
  else {
    const value = create(ToolStartedSchema, { worker: command.worker, epoch: command.epoch });
    record(run, { case: "toolStarted", value }, aboutCall(current));
  }
  return undefined;
}

/** The attempt's one end. */
export function taskSettled(run: RunRecorder, { key, outcome }: TaskSettled): Rejected | undefined {
  const { state } = run;
  const current = openTask(state, key);
  if (current === undefined) return taskNotOpen(state, key);
  switch (outcome.case) {
    case "function":
      if (current.call !== undefined) return wrongKind(state, key);
      if (mustStart(state, current)) return taskNotStarted(state, key);
      settleOutput(run, current, outcome.value.output, { handlerDurationMs: outcome.value.durationMs });
      return undefined;
    case "tool": {
      if (current.call === undefined) return wrongKind(state, key);
      if (mustStart(state, current)) return taskNotStarted(state, key);
      const { output, durationMs } = outcome.value;
      record(run, { case: "toolCompleted", value: create(ToolCompletedSchema, { output, durationMs }) }, aboutCall(current));
      settleOutput(run, current, output, { toolDurationMs: durationMs });
      return undefined;
    }
    case "failure":
      settleFailure(run, current, outcome.value);
      return undefined;
    case "cancelled":
      settleCancelled(run, current);
      return undefined;
    case "model":
    case undefined:
      return wrongKind(state, key);
  }
}

function settleOutput(
  run: RunRecorder,
  current: CurrentStep,
  output: Value | undefined,
  measured: { handlerDurationMs?: bigint; toolDurationMs?: bigint },
): void {
  const checked = checkOutput(stepAt(run.state, current.position), output, run.context);
  if (checked.ok) completeStep(run, checked.value, measured);
  else failAttempt(run, checked.error, { retry: true, call: current.call });
}

function settleFailure(run: RunRecorder, current: CurrentStep, failure: TaskFailure): void {
  const error = reportedError(failure.error, "worker");
  if (failure.unknown && !isIdempotent(run.state, current)) return settleUnknown(run, current, error.message);
  recordCallFailure(run, current, error, failure.durationMs);
  failAttempt(run, error, { retry: true, call: current.call });
}

/** Stopped, or never begun. Where nobody had asked for that, the attempt has failed. */
function settleCancelled(run: RunRecorder, current: CurrentStep): void {
  if (run.state.status === RunStatus.CANCELLING) return stopAttempt(run, "The worker has stopped it.");
  if (current.started && !isIdempotent(run.state, current)) return settleUnknown(run, current, "its worker stopped it before it was done");
  const error = stepError(ErrorCode.CANCELLED, "STEP_EXECUTION", current.stepId, "its worker gave it up before it was done");
  if (current.call !== undefined)
    record(run, { case: "toolCancelled", value: create(ToolCancelledSchema, { reason: "The worker gave it up." }) }, aboutCall(current));
  failAttempt(run, error, { retry: true, call: current.call });
}

/** Ends the run whose open attempt is known not to run any more. */
export function stopAttempt(run: RunRecorder, reason: string): void {
  const { current } = run.state;
  if (current?.call !== undefined) record(run, { case: "toolCancelled", value: create(ToolCancelledSchema, { reason }) }, aboutCall(current));
  endCancelled(run);
}

/** The lease was lost: an attempt that may have had an effect, and may not have it twice, is unknown; any other has failed. */
export function taskLost(run: RunRecorder, command: TaskLost): Rejected | undefined {
  const { state } = run;
  const current = openTask(state, command.key);
  if (current === undefined) return taskNotOpen(state, command.key);
  const lost = "its worker was lost";
  if (current.started && !isIdempotent(state, current)) {
    settleUnknown(run, current, `${lost} after it had begun`);
    return undefined;
  }
  const error = stepError(ErrorCode.WORKER_LOST, "STEP_EXECUTION", current.stepId, `${lost} while it held this attempt, as others were before it`);
  recordCallFailure(run, current, error, 0n);
  failAttempt(run, error, { retry: true, call: current.call });
  return undefined;
}

/** Nobody can say what happened, so nobody may try again by himself. */
function settleUnknown(run: RunRecorder, current: CurrentStep, why: string): void {
  if (current.call !== undefined)
    record(run, { case: "toolSettledUnknown", value: create(ToolSettledUnknownSchema, { reason: shorten(why, 1024) }) }, aboutCall(current));
  const message = `${why}; what it did is unknown, so it is not tried again. Check its effects before you start the run anew`;
  failAttempt(run, stepError(ErrorCode.WORKER_LOST, "UNKNOWN_EFFECT", current.stepId, message), { retry: false });
}

function recordCallFailure(run: RunRecorder, current: CurrentStep, error: ForgeError, durationMs: bigint): void {
  if (current.call === undefined) return;
  record(run, { case: "toolFailed", value: create(ToolFailedSchema, { error, durationMs }) }, aboutCall(current));
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
    case undefined:
      return { outcome: "failed", preview: "" };
  }
}

function aboutCall(current: CurrentStep): { readonly stepId: string; readonly toolCallId: string } {
  return { stepId: current.stepId, toolCallId: current.call?.toolCallId ?? "" };
}

/** The open attempt of a function or tool step with this key. */
function openTask(state: RunState, key: string): CurrentStep | undefined {
  const { current } = state;
  if (current === undefined || stepTaskKey(current) !== key) return undefined;
  return stepAt(state, current.position).kind.case === "agent" ? undefined : current;
}

/** Whether the attempt may have no result yet: what is not idempotent begins only with a go-ahead that is on record. */
function mustStart(state: RunState, current: CurrentStep): boolean {
  return !current.started && !isIdempotent(state, current);
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
