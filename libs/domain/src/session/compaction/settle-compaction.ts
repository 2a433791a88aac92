import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, ForgeErrorSchema, type Usage } from "@forge/protocol/common";
import { ModelUsageRecordedSchema, SessionCompactedSchema, SessionCompactionFailedSchema } from "@forge/protocol/event";
import type { Rejected } from "../../decider.ts";
import type { TaskLost, TaskSettled, TaskStarted } from "../../task.ts";
import { isStorable, utf8Length } from "../../text.ts";
import { boundedError } from "../bounded-error.ts";
import type { CompactingState } from "../loop-state.ts";
import { invalid } from "../rejections.ts";
import type { SessionRecorder } from "../session-command.ts";

const SUMMARY_BYTES_MAX = 65_536;

/** What became of the summary that a model was to write. */
export function applyCompactionTask(
  recorder: SessionRecorder,
  compacting: CompactingState,
  command: TaskStarted | TaskSettled | TaskLost,
): Rejected | undefined {
  switch (command.$typeName) {
    case "task.started":
      return invalid("start", "A summary may be written again, so that its start is not recorded.");
    case "task.lost":
      failCompaction(recorder, compacting, compactionError(ErrorCode.WORKER_LOST, "WORKER_LOST", "The workers that were to write the summary were lost."));
      return undefined;
    case "task.settled":
      return settleCompaction(recorder, compacting, command);
    default:
      return command satisfies never;
  }
}

function settleCompaction(recorder: SessionRecorder, compacting: CompactingState, { outcome, worker }: TaskSettled): Rejected | undefined {
  switch (outcome.case) {
    case "compaction": {
      const { usage } = outcome.value;
      const summary = outcome.value.summary.toWellFormed();
      const wrong = summaryProblem(summary);
      if (wrong !== undefined) {
        failCompaction(recorder, compacting, compactionError(ErrorCode.VALIDATION, "SUMMARY_INVALID", wrong), usage);
        return undefined;
      }
      const { compactionId, throughSeq, model, turnId } = compacting;
      const value = create(SessionCompactedSchema, { summary, throughSeq: BigInt(throughSeq), compactionId, model, usage });
      recorder.record({ turnId, payload: { case: "sessionCompacted", value }, sensitive: true });
      return undefined;
    }
    case "failure":
      failCompaction(recorder, compacting, boundedError(outcome.value.error), outcome.value.usage);
      return undefined;
    case "cancelled":
      failCompaction(recorder, compacting, compactionError(ErrorCode.CANCELLED, "COMPACTION_CANCELLED", `Worker ${worker} stopped writing the summary.`));
      return undefined;
    case "model":
    case "tool":
    case "function":
    case "preview":
    case "inputRequired":
    case "hook":
    case "undo":
    case undefined:
      return invalid("settlement", "A compaction is settled by a summary, a failure or a cancellation.");
    default:
      return outcome satisfies never;
  }
}

/** Why a text can't stand for a conversation; undefined where it can. */
export function summaryProblem(summary: string): string | undefined {
  if (summary.trim() !== "" && isStorable(summary) && utf8Length(summary) <= SUMMARY_BYTES_MAX) return undefined;
  return "A summary says something in at most 64 KiB of text, without NUL and half surrogate pairs.";
}

/** The time for it is over. */
export function expireCompaction(recorder: SessionRecorder, compacting: CompactingState): void {
  failCompaction(recorder, compacting, compactionError(ErrorCode.DEADLINE_EXCEEDED, "COMPACTION_TIMEOUT", "The summary was not written in time."));
}

/** The conversation stays as it was. What the attempt used is counted all the same. */
export function failCompaction(recorder: SessionRecorder, compacting: CompactingState, error: ForgeError, usage?: Usage): void {
  const { compactionId, model, turnId } = compacting;
  if (usage !== undefined) recorder.record({ turnId, payload: { case: "modelUsageRecorded", value: create(ModelUsageRecordedSchema, { model, usage }) } });
  const value = create(SessionCompactionFailedSchema, { compactionId, error });
  recorder.record({ turnId, payload: { case: "sessionCompactionFailed", value }, sensitive: true });
}

export function compactionError(code: ErrorCode, reason: string, message: string): ForgeError {
  return create(ForgeErrorSchema, { code, reason, message, origin: "control-plane" });
}
