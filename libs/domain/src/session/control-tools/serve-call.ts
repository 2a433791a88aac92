import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ValueSchema } from "@forge/protocol/common";
import { PlanUpdatedSchema, ToolCompletedSchema, TurnInputRequestedSchema } from "@forge/protocol/event";
import { approvalTtlMs } from "../../tool-policy.ts";
import type { SessionRecorder } from "../session-command.ts";
import { ASK_TOOL, questionOf } from "./ask-tool.ts";
import { AUTO_CONTINUE_TOOL, GO_ON } from "./auto-continue-tool.ts";
import { PLAN_TOOL, planOf } from "./plan-tool.ts";

/** The call that is meant. */
export interface CallIds {
  readonly turnId: string;
  readonly toolCallId: string;
}

/** Does what a granted call of one of the control plane's own tools asks for, at once; it holds nobody back. Does nothing for any other call. */
export function serveCall(recorder: SessionRecorder, ids: CallIds, tool: string, argumentsJson: string): void {
  const { context, state } = recorder;
  switch (tool) {
    case ASK_TOOL.name: {
      const value = create(TurnInputRequestedSchema, {
        inputId: context.newId(),
        question: questionOf(argumentsJson),
        expiresAt: timestampFromMs(context.nowMs + approvalTtlMs(state.policy)),
      });
      return recorder.record({ ...ids, payload: { case: "turnInputRequested", value }, sensitive: true });
    }
    case PLAN_TOOL.name:
      recorder.record({ ...ids, payload: { case: "planUpdated", value: create(PlanUpdatedSchema, { plan: planOf(argumentsJson) }) }, sensitive: true });
      return complete(recorder, ids, "The plan is shown to the person.");
    case AUTO_CONTINUE_TOOL.name:
      return complete(recorder, ids, GO_ON);
    default:
      return undefined;
  }
}

function complete(recorder: SessionRecorder, ids: CallIds, output: string): void {
  const value = create(ToolCompletedSchema, { output: create(ValueSchema, { kind: { case: "json", value: JSON.stringify(output) } }) });
  recorder.record({ ...ids, payload: { case: "toolCompleted", value }, sensitive: true });
}
