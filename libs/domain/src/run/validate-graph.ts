import type { InputSource, StepDefinition, WorkflowDefinition } from "@forge/protocol/workflow";
import { parseExpression } from "../expression/parse.ts";
import { type Reference, references } from "../expression/references.ts";
import { Ancestors } from "../graph/ancestors.ts";
import { cycleOf } from "../graph/cycle-of.ts";
import { parseStatePath } from "../state-path/state-path.ts";
import { parseTemplate, templateReferences } from "../template/template.ts";
import { invalidDefinition } from "./invalid-field.ts";
import { NEEDS_MAX } from "./limits.ts";
import { suggestion } from "./nearest.ts";
import { promptsOf } from "./variants.ts";

/** Checks what the steps of a workflow need of each other, and that a graph's step reads only what has ended before it begins. Throws InvalidField. */
export function validateGraph(place: string, { steps }: WorkflowDefinition, stepIds: ReadonlySet<string>): void {
  const isGraph = steps.some(({ needs }) => needs.length > 0);
  for (const [index, step] of steps.entries()) checkStep(`${place}steps[${index}]`, step, isGraph, stepIds);
  if (!isGraph) return;
  const needs = new Map(steps.map((step) => [step.id, step.needs]));
  const cycle = cycleOf(needs);
  if (cycle !== undefined) {
    const index = steps.findIndex(({ id }) => id === cycle[0]);
    throw invalidDefinition(`${place}steps[${index}].needs`, `these steps need each other: ${cycle.join(" -> ")}`);
  }
  const ancestors = new Ancestors(needs);
  for (const [index, step] of steps.entries()) {
    const outside = readsOf(step).find(({ id }) => stepIds.has(id) && !ancestors.has(step.id, id));
    if (outside !== undefined) {
      const why = outside.id === step.id ? "itself" : `step "${outside.id}", which it doesn't need: it may not have ended by then. Add it to needs`;
      throw invalidDefinition(`${place}steps[${index}].${outside.field}`, `step "${step.id}" reads ${why}`);
    }
  }
}

function checkStep(field: string, step: StepDefinition, isGraph: boolean, stepIds: ReadonlySet<string>): void {
  if (step.needs.length > NEEDS_MAX) throw invalidDefinition(`${field}.needs`, `at most ${NEEDS_MAX} needs, not ${step.needs.length}`);
  const seen = new Set<string>();
  for (const [index, need] of step.needs.entries()) {
    if (!stepIds.has(need)) throw invalidDefinition(`${field}.needs[${index}]`, `there is no step "${need.slice(0, 200)}"${suggestion(need, stepIds)}`);
    if (seen.has(need)) throw invalidDefinition(`${field}.needs[${index}]`, `"${need}" stands twice in the needs of step "${step.id}"`);
    seen.add(need);
  }
  if (isGraph && (step.next.length > 0 || step.nextDefault !== undefined))
    throw invalidDefinition(`${field}.next`, `step "${step.id}" has next, but other steps have needs: a workflow has one or the other`);
  if (step.when === "") return;
  if (!isGraph) throw invalidDefinition(`${field}.when`, `step "${step.id}" has when, but no step has needs: a sequence branches by next`);
  const parsed = parseExpression(step.when);
  if (!parsed.ok) throw invalidDefinition(`${field}.when`, `${parsed.error.message} (at character ${parsed.error.position + 1})`);
}

/** A step that another one reads, and in which of its fields. */
interface StepRead {
  readonly id: string;
  readonly field: string;
}

function readsOf(step: StepDefinition): StepRead[] {
  const { kind } = step;
  const reads = Object.entries(step.inputs).flatMap(([name, source]) => readsOfSource(`inputs.${name}`, source));
  if (step.forEach?.items !== undefined) reads.push(...readsOfSource("for_each.items", step.forEach.items));
  if (step.when !== "") {
    const parsed = parseExpression(step.when);
    if (parsed.ok) reads.push(...stepsIn("when", references(parsed.value)));
  }
  if (kind.case === "agent") for (const text of promptsOf(kind.value)) reads.push(...readsOfTemplate("agent.prompt", text));
  if (kind.case === "wait" && kind.value.kind.case === "until") reads.push(...readsOfSource("wait.until", kind.value.kind.value));
  if (kind.case === "wait" && kind.value.kind.case === "approval") reads.push(...readsOfTemplate("wait.approval.question", kind.value.kind.value.question));
  return reads;
}

function readsOfSource(field: string, { kind }: InputSource): StepRead[] {
  if (kind.case === "template") return readsOfTemplate(field, kind.value);
  const [root, id] = kind.case === "path" ? (parseStatePath(kind.value) ?? []) : [];
  return root === "steps" && id !== undefined ? [{ id, field }] : [];
}

function readsOfTemplate(field: string, text: string): StepRead[] {
  const parsed = parseTemplate(text);
  return parsed.ok
    ? stepsIn(
        field,
        templateReferences(parsed.value).map(({ reference }) => reference),
      )
    : [];
}

/** `steps.a` and `state.steps.a`; a list's item can't be called either. */
function stepsIn(field: string, all: readonly Reference[]): StepRead[] {
  return all.flatMap((reference) => {
    const [root, id] = reference[0]?.name === "state" ? reference.slice(1) : reference;
    return root?.name === "steps" && id !== undefined ? [{ id: id.name, field }] : [];
  });
}
