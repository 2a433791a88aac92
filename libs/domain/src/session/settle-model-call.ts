import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode, type ForgeError, ForgeErrorSchema, type Usage } from "@forge/protocol/common";
import {
  ModelAttemptFailedSchema,
  ModelCancelledSchema,
  ModelCompletedSchema,
  ModelFailedSchema,
  ModelStartedSchema,
  ModelUsageRecordedSchema,
} from "@forge/protocol/event";
import type { Rejected } from "../decider.ts";
import type { TaskSettled, TaskStarted } from "../task.ts";
import { answerParts } from "./answer-parts.ts";
import { boundedError } from "./bounded-error.ts";
import { conflict, invalid } from "./rejections.ts";
import { LOST_LEASES_MAX, MODEL_ATTEMPTS_MAX, retryDelayMs } from "./retry.ts";
import type { SessionRecorder } from "./session-command.ts";
import { mayNotStart } from "./start-refusal.ts";
import type { ModelCallState, TurnState } from "./state.ts";

export function startModelCall(recorder: SessionRecorder, turn: TurnState, call: ModelCallState, command: TaskStarted): Rejected | undefined {
  const refused = mayNotStart(turn, call.started, command.key);
  if (refused !== undefined) return refused;
  if (command.start.case !== "model") return invalid("start", "The start of a model call tells what is about to be sent.");
  const value = create(ModelStartedSchema, { ...command.start.value, worker: command.worker, epoch: command.epoch });
  recorder.record({ ...idsOf(turn, call), payload: { case: "modelStarted", value } });
  return undefined;
}

export function settleModelCall(recorder: SessionRecorder, turn: TurnState, call: ModelCallState, command: TaskSettled): Rejected | undefined {
  const { outcome } = command;
  const ids = idsOf(turn, call);
  switch (outcome.case) {
    case "model": {
      const { completed, usage } = outcome.value;
      if (completed === undefined) return invalid("settlement.model.completed", "A model's result carries its answer.");
      if (!call.started)
        return conflict("TASK_NOT_STARTED", `Task ${command.key} was settled without its start having been recorded.`, [], { key: command.key });
      const value = create(ModelCompletedSchema, {
        parts: answerParts(completed.parts, () => recorder.context.newId()),
        finishReason: completed.finishReason,
        providerModel: completed.providerModel.toWellFormed(),
        providerMetadataJson: completed.providerMetadataJson.toWellFormed(),
        durationMs: completed.durationMs,
        firstOutputMs: completed.firstOutputMs,
        contextWindowTokens: completed.contextWindowTokens,
      });
      recorder.record({ ...ids, payload: { case: "modelCompleted", value }, sensitive: true });
      recordUsage(recorder, ids, call.model, usage);
      return undefined;
    }
    case "failure": {
      const { unknown, afterOutput, usage } = outcome.value;
      const error = boundedError(outcome.value.error);
      recordUsage(recorder, ids, call.model, usage);
      failAttempt(
        recorder,
        turn,
        call,
        error,
        error.retryable && !unknown && !afterOutput,
        retryDelayMs(recorder.context, call.modelCallId, call.failedAttempts + 1, error),
      );
      return undefined;
    }
    case "cancelled": {
      if (turn.cancel !== undefined) {
        recorder.record({ ...ids, payload: { case: "modelCancelled", value: create(ModelCancelledSchema) } });
        return undefined;
      }
      // A worker that is going away stopped it of its own accord; nothing was said yet, so another may try.
      const error = modelError(call, ErrorCode.CANCELLED, "WORKER_CANCELLED", `Worker ${command.worker} stopped the model call unasked.`);
      failAttempt(recorder, turn, call, error, true, retryDelayMs(recorder.context, call.modelCallId, call.failedAttempts + 1, error));
      return undefined;
    }
    case "tool":
    case "function":
    case "preview":
    case "inputRequired":
    case "hook":
    case "compaction":
    case "undo":
    case undefined:
      return invalid("settlement", "A model call is settled by a model's result, a failure or a cancellation.");
    default:
      return outcome satisfies never;
  }
}

/**
 * A model call counts as idempotent until its first output. Output is not part of the state, so a call whose worker was lost is tried again, which costs
 * tokens at worst, until too many workers were lost on it.
 */
export function loseModelCall(recorder: SessionRecorder, turn: TurnState, call: ModelCallState): void {
  if (turn.cancel !== undefined && !call.started) {
    recorder.record({ ...idsOf(turn, call), payload: { case: "modelCancelled", value: create(ModelCancelledSchema) } });
    return;
  }
  const error = modelError(call, ErrorCode.WORKER_LOST, "WORKER_LOST", `The worker of model call ${call.modelCallId} was lost.`);
  failAttempt(recorder, turn, call, error, call.started && call.lostLeases + 1 < LOST_LEASES_MAX, 0);
}

function failAttempt(recorder: SessionRecorder, turn: TurnState, call: ModelCallState, error: ForgeError, mayRetry: boolean, delayMs: number): void {
  const attempt = call.failedAttempts + 1;
  const nextAttemptAtMs = recorder.context.nowMs + delayMs;
  const ids = idsOf(turn, call);
  // An attempt after the turn's deadline would only make the caller wait for an end that is known already.
  if (mayRetry && attempt < MODEL_ATTEMPTS_MAX && turn.cancel === undefined && nextAttemptAtMs < turn.deadlineAtMs) {
    const value = create(ModelAttemptFailedSchema, { error, attempt, nextAttemptAt: timestampFromMs(nextAttemptAtMs) });
    recorder.record({ ...ids, payload: { case: "modelAttemptFailed", value } });
  } else {
    recorder.record({ ...ids, payload: { case: "modelFailed", value: create(ModelFailedSchema, { error }) } });
  }
}

function recordUsage(recorder: SessionRecorder, ids: { turnId: string; modelCallId: string }, model: string, usage: Usage | undefined): void {
  if (usage === undefined) return;
  const value = create(ModelUsageRecordedSchema, { model, usage });
  recorder.record({ ...ids, payload: { case: "modelUsageRecorded", value } });
}

function modelError(call: ModelCallState, code: ErrorCode, reason: string, message: string): ForgeError {
  return create(ForgeErrorSchema, { code, reason, message, retryable: true, origin: "control-plane", relatedIds: [call.modelCallId] });
}

function idsOf(turn: TurnState, call: ModelCallState): { turnId: string; modelCallId: string } {
  return { turnId: turn.turnId, modelCallId: call.modelCallId };
}
