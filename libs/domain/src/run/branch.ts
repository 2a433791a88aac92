import { ErrorCode, type ForgeError } from "@forge/protocol/common";
import { OnError } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { evaluateCondition } from "../expression/evaluate.ts";
import { stepError } from "./errors.ts";
import { conditionOf } from "./expressions.ts";
import { readsOfBranches } from "./reads.ts";
import { failed, type Outcome, succeeded } from "./result.ts";
import { type FreshOutput, stateView } from "./scope.ts";
import { type Execution, isGraph, isStopping, positionOf, type RunState, stepAt } from "./state.ts";

/** What follows: a step, the run's end, or its failure. */
export type Next = { readonly kind: "step"; readonly position: number } | { readonly kind: "end" } | { readonly kind: "failure"; readonly error: ForgeError };

/** The branch that a completed step takes, and which rule chose it. */
export interface Branch {
  readonly next: Next;
  /** Empty at the end. */
  readonly stepId: string;
  /** "sequence", "rule:<n>" counted from 0, "default", or "end" after the last step; empty where none could be chosen. */
  readonly source: string;
}

/** Where a branch leads to end the run. */
export const END = "end";

/** The step after a step, as they stand in the definition. */
export function nextInSequence(state: RunState, position: number): Next {
  return position + 1 < (state.definition?.steps.length ?? 0) ? { kind: "step", position: position + 1 } : { kind: "end" };
}

/** Whether a sequence takes a step's branch although the step fails. */
export function goesOnAfter(state: RunState, { item }: Execution): boolean {
  return item === undefined && state.definition?.onError === OnError.CONTINUE && !isGraph(state) && !isStopping(state);
}

/** What a step that has failed has put out. */
export function withoutOutput(position: number): FreshOutput {
  return { position, output: undefined };
}

/** Chooses what follows a step that has ended: the first rule that is true, then the default; without rules, the sequence. `fresh` is an output that has not joined the state yet. */
export function resolveBranch(state: RunState, position: number, context: Context, fresh?: FreshOutput): Branch {
  const step = stepAt(state, position);
  if (step.next.length === 0 && step.nextDefault === undefined) {
    const next = nextInSequence(state, position);
    return next.kind === "step" ? { next, stepId: stepAt(state, next.position).id, source: "sequence" } : { next, stepId: "", source: "end" };
  }
  const chosen = chooseTarget(state, position, context, fresh);
  if (!chosen.ok) return { next: { kind: "failure", error: chosen.error }, stepId: "", source: "" };
  const { target, source } = chosen.value;
  if (target === END) return { next: { kind: "end" }, stepId: "", source };
  const targetPosition = positionOf(state, target);
  if (targetPosition !== undefined) return { next: { kind: "step", position: targetPosition }, stepId: target, source };
  return { next: { kind: "failure", error: branchError(step.id, `${source} leads to "${target}", which is no step`) }, stepId: "", source: "" };
}

function chooseTarget(
  state: RunState,
  position: number,
  context: Context,
  fresh: FreshOutput | undefined,
): Outcome<{ readonly target: string; readonly source: string }> {
  const step = stepAt(state, position);
  const view = stateView(state, readsOfBranches(step), context, step.id, fresh);
  if (!view.ok) return failed(branchError(step.id, view.error.message));
  for (const [index, rule] of step.next.entries()) {
    const parsed = conditionOf(rule);
    const result = parsed.ok ? evaluateCondition(parsed.value, { state: view.value }) : parsed;
    if (!result.ok)
      return failed(
        branchError(step.id, `rule ${index} (\`${rule.when}\`) can't be evaluated: ${result.error.message} (at character ${result.error.position + 1})`),
      );
    if (result.value) return succeeded({ target: rule.goto, source: `rule:${index}` });
  }
  if (step.nextDefault !== undefined) return succeeded({ target: step.nextDefault, source: "default" });
  return failed(branchError(step.id, "no rule of `next` is true, and there is no default: add one"));
}

function branchError(stepId: string, message: string): ForgeError {
  return stepError(ErrorCode.VALIDATION, "BRANCH_RESOLUTION", stepId, message);
}
