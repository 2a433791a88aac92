import type { EventDraft } from "../decider.ts";
import { modelTaskKey, toolTaskKey } from "./keys.ts";
import { activeTurn, type SessionState } from "./state.ts";

/** Whose output it is that the task of this key writes; nobody's where the task is no longer open. */
export function sessionDeltaIds(state: SessionState, taskKey: string): Pick<EventDraft, "turnId" | "toolCallId" | "modelCallId" | "stepId"> {
  const turn = activeTurn(state);
  if (turn === undefined) return {};
  const { turnId, modelCall } = turn;
  if (modelCall !== undefined && modelTaskKey(modelCall) === taskKey) return { turnId, modelCallId: modelCall.modelCallId };
  const toolCall = turn.toolCalls.find((call) => toolTaskKey(call) === taskKey);
  return toolCall === undefined ? {} : { turnId, toolCallId: toolCall.toolCallId };
}
