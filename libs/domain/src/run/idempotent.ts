import { type Execution, type RunState, stepAt } from "./state.ts";

/** Whether the attempt may be dispatched again after a lease was lost, even when it had started. */
export function isIdempotent(state: RunState, execution: Execution): boolean {
  const { kind } = stepAt(state, execution.position);
  return kind.case === "function" ? !kind.value.notIdempotent : execution.isIdempotentTool;
}
