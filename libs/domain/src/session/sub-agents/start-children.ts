import { create } from "@bufbuild/protobuf";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { ToolFailedSchema, ToolStartedSchema } from "@forge/protocol/event";
import type { SessionRecorder } from "../session-command.ts";
import type { TurnState } from "../state.ts";
import { TASK_EXPECTED, taskOf } from "./sub-agent.ts";

/** Starts the sub-agents whose turn has come: the event is what their sessions come of. Returns whether there was one. */
export function startChildren(recorder: SessionRecorder, turn: TurnState): boolean {
  if (turn.cancel !== undefined) return false;
  const waiting = turn.toolCalls.filter((call) => call.isChild && call.dispatched && !call.started);
  for (const { toolCallId, argumentsJson } of waiting) {
    const ids = { turnId: turn.turnId, toolCallId };
    if (taskOf(argumentsJson) === undefined) {
      // Arguments that a person edited are not looked into before.
      const error = create(ForgeErrorSchema, { code: ErrorCode.VALIDATION, reason: "INVALID_ARGUMENTS", message: TASK_EXPECTED, origin: "control-plane" });
      recorder.record({ ...ids, payload: { case: "toolFailed", value: create(ToolFailedSchema, { error }) }, sensitive: true });
    } else {
      recorder.record({ ...ids, payload: { case: "toolStarted", value: create(ToolStartedSchema, { worker: "control-plane", childSessionId: toolCallId }) } });
    }
  }
  return waiting.length > 0;
}
