import type { EventDraft } from "../decider.ts";
import { stepTaskKey } from "./keys.ts";
import type { RunState } from "./state.ts";

/** What the output of a step's task belongs to; nothing where the task has ended. */
export function deltaIds(state: RunState, taskKey: string): Pick<EventDraft, "toolCallId" | "stepId"> {
  const { current } = state;
  if (current === undefined || stepTaskKey(current) !== taskKey) return {};
  return { stepId: current.stepId, toolCallId: current.call?.toolCallId };
}
