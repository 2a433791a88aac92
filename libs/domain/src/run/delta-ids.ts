import type { EventDraft } from "../decider.ts";
import { stepTaskKey } from "./keys.ts";
import type { RunState } from "./state.ts";

/** What the output of a step's task belongs to; nothing where the task has ended. */
export function deltaIds(state: RunState, taskKey: string): Pick<EventDraft, "toolCallId" | "stepId"> {
  const execution = state.executions.find((each) => stepTaskKey(each) === taskKey);
  if (execution === undefined) return {};
  return { stepId: execution.stepId, toolCallId: execution.call?.toolCallId };
}
