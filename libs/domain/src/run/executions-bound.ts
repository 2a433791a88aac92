import { ErrorCode, type ForgeError } from "@forge/protocol/common";
import { stepError } from "./errors.ts";
import { listsIn } from "./executions.ts";
import { EXECUTIONS_MAX } from "./limits.ts";
import type { RunState } from "./state.ts";

/** Why so many executions more would be too many for one run, the items of open lists that are still to begin included; undefined where they are not. */
export function executionsBound(state: RunState, stepId: string, more: number): ForgeError | undefined {
  const promised = listsIn(state.executions).reduce((sum, { group }) => sum + (group === undefined ? 0 : group.count - group.next), 0);
  if (state.executionCount + promised + more <= EXECUTIONS_MAX) return undefined;
  const message = `a run executes at most ${EXECUTIONS_MAX} steps and items, and this one has executed ${state.executionCount}: a branch leads back without end, or its lists are too long`;
  return stepError(ErrorCode.RESOURCE_EXHAUSTED, "CIRCULAR_EXECUTION", stepId, message);
}
