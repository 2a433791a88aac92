import { ErrorCode, type ForgeError } from "@forge/protocol/common";
import type { StepDefinition } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { evaluateCondition } from "../expression/evaluate.ts";
import { itemAt } from "./chunks.ts";
import { stepError } from "./errors.ts";
import { whenOf } from "./expressions.ts";
import { readsOfWhen } from "./reads.ts";
import { failed, type Outcome, succeeded } from "./result.ts";
import { stateView } from "./scope.ts";
import { positionOf, type RunState, stepAt } from "./state.ts";

/** Why a step of a graph is not executed: one of its needs, or its own condition. Undefined where it is. */
export function passedOver(
  state: RunState,
  position: number,
  context: Context,
): { readonly reason: "need" | "when"; readonly need: string } | { readonly error: ForgeError } | undefined {
  const step = stepAt(state, position);
  const need = step.needs.find((id) => itemAt(state.steps, positionOf(state, id) ?? -1)?.outcome !== "completed");
  if (need !== undefined) return { reason: "need", need };
  const held = holds(state, step, context);
  if (!held.ok) return { error: held.error };
  return held.value ? undefined : { reason: "when", need: "" };
}

/** Whether a step of a graph is executed now that its needs are met. */
function holds(state: RunState, step: StepDefinition, context: Context): Outcome<boolean> {
  if (step.when === "") return succeeded(true);
  const view = stateView(state, readsOfWhen(step), context, step.id);
  if (!view.ok) return view;
  const parsed = whenOf(step);
  const result = parsed.ok ? evaluateCondition(parsed.value, { state: view.value }) : parsed;
  if (result.ok) return succeeded(result.value);
  const message = `its \`when\` (\`${step.when}\`) can't be evaluated: ${result.error.message} (at character ${result.error.position + 1})`;
  return failed(stepError(ErrorCode.VALIDATION, "BRANCH_RESOLUTION", step.id, message));
}
