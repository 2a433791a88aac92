import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError } from "@forge/protocol/common";
import { HookCompletedSchema, HookFailedSchema } from "@forge/protocol/event";
import type { Rejected } from "../../decider.ts";
import type { TaskLost, TaskSettled, TaskStarted } from "../../task.ts";
import { boundedError } from "../bounded-error.ts";
import type { HookCallState } from "../loop-state.ts";
import { invalid } from "../rejections.ts";
import type { SessionRecorder } from "../session-command.ts";
import type { TurnState } from "../state.ts";
import { hookError } from "./call-hooks.ts";
import { editsProblem } from "./hook-edits.ts";

/** What became of a worker's call of a hook. */
export function applyHookTask(
  recorder: SessionRecorder,
  turn: TurnState,
  call: HookCallState,
  command: TaskStarted | TaskSettled | TaskLost,
): Rejected | undefined {
  switch (command.$typeName) {
    case "task.started":
      return invalid("start", "A hook may be asked again, so that its start is not recorded.");
    case "task.lost":
      failHook(recorder, turn, call, ErrorCode.WORKER_LOST, "WORKER_LOST", `The workers of hook ${call.hook} were lost.`);
      return undefined;
    case "task.settled":
      return settleHook(recorder, turn, call, command);
    default:
      return command satisfies never;
  }
}

function settleHook(recorder: SessionRecorder, turn: TurnState, call: HookCallState, { outcome, worker }: TaskSettled): Rejected | undefined {
  switch (outcome.case) {
    case "hook": {
      const { edits, durationMs } = outcome.value;
      const problem = editsProblem(edits, call.at, turn.hooks.answer?.calls ?? []);
      if (problem !== undefined) {
        failHook(recorder, turn, call, ErrorCode.VALIDATION, "INVALID_EDITS", `Hook ${call.hook} answered with edits that can't be made. ${problem}`);
        return undefined;
      }
      const value = create(HookCompletedSchema, { ...idsOf(call), edits, durationMs, aboutSeq: BigInt(call.aboutSeq) });
      recorder.record({ turnId: turn.turnId, payload: { case: "hookCompleted", value }, sensitive: true });
      return undefined;
    }
    case "failure": {
      const error = boundedError(outcome.value.error);
      failHook(recorder, turn, call, error.code, error.reason, `Hook ${call.hook} failed: ${error.message}`);
      return undefined;
    }
    case "cancelled":
      failHook(recorder, turn, call, ErrorCode.CANCELLED, "WORKER_CANCELLED", `Worker ${worker} stopped hook ${call.hook} unasked.`);
      return undefined;
    case "model":
    case "tool":
    case "function":
    case "preview":
    case "inputRequired":
    case "compaction":
    case "undo":
    case undefined:
      return invalid("settlement", "A hook is settled by edits, a failure or a cancellation.");
    default:
      return outcome satisfies never;
  }
}

/** The time of a hook that gave no sign is over. */
export function expireHook(recorder: SessionRecorder, turn: TurnState, call: HookCallState): void {
  failHook(recorder, turn, call, ErrorCode.DEADLINE_EXCEEDED, "HOOK_TIMEOUT", `Hook ${call.hook} did not answer in time.`);
}

/** A hook has no effect in the world, so that nobody waits for it once its turn is to stop. */
export function stopHook(recorder: SessionRecorder, turn: TurnState, why: string): void {
  const { call } = turn.hooks;
  if (call === undefined) return;
  recordFailure(recorder, turn, call, hookError(call.hook, ErrorCode.CANCELLED, "TURN_CANCELLING", why));
}

/** The cause's reason stays in the metadata: what people look for is that a hook failed. */
function failHook(recorder: SessionRecorder, turn: TurnState, call: HookCallState, code: ErrorCode, cause: string, message: string): void {
  recordFailure(recorder, turn, call, hookError(call.hook, code, "HOOK_FAILED", message, { cause }));
}

function recordFailure(recorder: SessionRecorder, turn: TurnState, call: HookCallState, error: ForgeError): void {
  const value = create(HookFailedSchema, { ...idsOf(call), error });
  recorder.record({ turnId: turn.turnId, payload: { case: "hookFailed", value }, sensitive: true });
}

function idsOf({ hookCallId, hook, at, index }: HookCallState) {
  return { hookCallId, hook, at, index };
}
