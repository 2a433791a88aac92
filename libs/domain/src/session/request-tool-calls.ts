import { create } from "@bufbuild/protobuf";
import { ForgeErrorSchema } from "@forge/protocol/common";
import {
  CheckpointKind,
  ToolApprovalRequiredSchema,
  ToolCancelledSchema,
  ToolDeniedSchema,
  ToolFailedSchema,
  ToolRequestedSchema,
} from "@forge/protocol/event";
import type { ToolCallPart } from "@forge/protocol/session";
import { bindDecision } from "./bind-decision.ts";
import { checkpoint } from "./checkpoint.ts";
import { serveCall } from "./control-tools/serve-call.ts";
import { argumentsFit, passGate, type Verdict } from "./gate.ts";
import type { HeldAnswer } from "./loop-state.ts";
import type { SessionRecorder } from "./session-command.ts";
import { activeTurn, findTool, type TurnState } from "./state.ts";

/** Records every call of an answer as intended, in order, with the gate's decision bound to it, and ends at once what will not be dispatched. */
export function requestToolCalls(recorder: SessionRecorder, { calls, requestedCount, isCut, denied }: HeldAnswer): true {
  checkpoint(recorder, activeTurn(recorder.state)?.turnId ?? "", CheckpointKind.BEFORE_TOOL_CALLS);
  for (const [index, part] of calls.entries()) {
    const turn = activeTurn(recorder.state);
    const denial = denied.find(({ toolCallId }) => toolCallId === part.toolCallId);
    if (turn !== undefined) requestToolCall(recorder, turn, part, { index: requestedCount + index, isCut, denial });
  }
  return true;
}

/** What is known of a call beside its own words. */
interface CallContext {
  readonly index: number;
  readonly isCut: boolean;
  /** A hook does not let it pass. */
  readonly denial: HeldAnswer["denied"][number] | undefined;
}

function requestToolCall(recorder: SessionRecorder, turn: TurnState, part: ToolCallPart, { index, isCut, denial }: CallContext): void {
  const { state, context } = recorder;
  const tool = findTool(turn, part.tool);
  // Models write no arguments at all where a tool takes none.
  const argumentsJson = part.argumentsJson.trim() === "" ? "{}" : part.argumentsJson;
  const verdict: Verdict =
    denial === undefined
      ? passGate(context, state, turn, tool, { tool: part.tool, argumentsJson, isCut, index })
      : { kind: "denied", source: `hook:${denial.hook}`, reason: denial.reason || "A hook of the agent does not allow the call." };
  const decision = bindDecision(recorder, turn, { spec: tool, tool: part.tool, argumentsJson, preview: undefined }, verdict);
  const ids = { turnId: turn.turnId, toolCallId: part.toolCallId };
  const requested = create(ToolRequestedSchema, {
    tool: part.tool,
    argumentsJson: argumentsFit(argumentsJson) ? argumentsJson : "",
    providerCallId: part.providerCallId,
    decision,
  });
  recorder.record({ ...ids, payload: { case: "toolRequested", value: requested }, sensitive: true });
  switch (verdict.kind) {
    case "granted":
      return serveCall(recorder, ids, part.tool, argumentsJson);
    case "previewed":
      // The fold gives the question to the worker; its answer decides.
      return;
    case "asked": {
      const value = create(ToolApprovalRequiredSchema, { approvalId: context.newId(), expiresAt: decision.expiresAt });
      return recorder.record({ ...ids, payload: { case: "toolApprovalRequired", value } });
    }
    case "denied": {
      const value = create(ToolDeniedSchema, { decision, reason: verdict.reason });
      return recorder.record({ ...ids, payload: { case: "toolDenied", value }, sensitive: true });
    }
    case "impossible": {
      const { code, reason, message } = verdict;
      const error = create(ForgeErrorSchema, { code, reason, message, origin: "control-plane", relatedIds: [part.toolCallId] });
      return recorder.record({ ...ids, payload: { case: "toolFailed", value: create(ToolFailedSchema, { error }) }, sensitive: true });
    }
    case "stopped": {
      const value = create(ToolCancelledSchema, { reason: "The turn was asked to stop before the call was dispatched." });
      return recorder.record({ ...ids, payload: { case: "toolCancelled", value } });
    }
    default:
      return verdict satisfies never;
  }
}
