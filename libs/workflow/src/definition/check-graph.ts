import { Ancestors, cycleOf } from "@forge/domain";
import type { Problems } from "../yaml/problems.ts";
import type { StepDraft } from "./step-draft.ts";

/** In which order steps run: one after the other, as they need each other, or, where what they need makes no sense, nobody knows. */
export type StepOrder = { readonly kind: "sequence" } | { readonly kind: "graph"; readonly ancestors: Ancestors } | { readonly kind: "unknown" };

/** Checks what steps need of each other; a workflow is a graph where any step needs another. */
export function checkGraph(problems: Problems, steps: readonly StepDraft[]): StepOrder {
  if (!steps.some(({ needs }) => needs.length > 0)) {
    for (const { id, when } of steps)
      if (when !== undefined) problems.add(when.when.offset, `step ${id.text} has when, but no step has needs; expected next, which branches a sequence`);
    return { kind: "sequence" };
  }
  const needs = new Map(steps.map((step) => [step.id.text, step.needs.map(({ text }) => text)]));
  let isKnown = true;
  for (const step of steps) {
    if (step.nextOffset !== undefined)
      problems.add(step.nextOffset, `step ${step.id.text} has next, but other steps have needs; expected one or the other in one workflow`);
    for (const need of step.needs) {
      if (needs.has(need.text)) continue;
      isKnown = false;
      problems.addUnknown(need.offset, `step in needs of step ${step.id.text}`, need.text, needs.keys());
    }
  }
  const cycle = cycleOf(needs);
  if (cycle === undefined) return isKnown ? { kind: "graph", ancestors: new Ancestors(needs) } : { kind: "unknown" };
  const first = steps.find(({ id }) => id.text === cycle[0]);
  const need = first?.needs.find(({ text }) => text === cycle[1]);
  problems.add(need?.offset ?? 0, `steps that need each other: ${shown(cycle)}; expected an order in which each comes after those that it needs`);
  return { kind: "unknown" };
}

/** A long way by its beginning and its end. */
function shown(cycle: readonly string[]): string {
  return (cycle.length <= 12 ? cycle : [...cycle.slice(0, 8), "…", ...cycle.slice(-3)]).join(" -> ");
}
