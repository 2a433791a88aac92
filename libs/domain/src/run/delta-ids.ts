import type { EventDraft } from "../decider.ts";
import { executionOfTask } from "./keys.ts";
import type { RunState } from "./state.ts";

/** What the output of a step's task belongs to; nothing where the task has ended. */
export function deltaIds(state: RunState, taskKey: string): Pick<EventDraft, "toolCallId" | "stepId"> {
  const execution = executionOfTask(state, taskKey);
  if (execution === undefined) return {};
  return { stepId: execution.stepId, toolCallId: execution.call?.toolCallId };
}
