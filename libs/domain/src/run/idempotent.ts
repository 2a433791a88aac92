import { type CurrentStep, type RunState, stepAt } from "./state.ts";

/** Whether the attempt may be dispatched again after a lease was lost, even when it had started. */
export function isIdempotent(state: RunState, current: CurrentStep): boolean {
  const { kind } = stepAt(state, current.position);
  return kind.case === "function" ? !kind.value.notIdempotent : current.isIdempotentTool;
}
