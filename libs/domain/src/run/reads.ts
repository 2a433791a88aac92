import type { InputSource, StepDefinition } from "@forge/protocol/workflow";
import type { Expression } from "../expression/expression.ts";
import { references } from "../expression/references.ts";
import type { Result } from "../expression/result.ts";
import { parseStatePath } from "../state-path/state-path.ts";
import { parseTemplate, templateReferences } from "../template/template.ts";
import { conditionOf, whenOf } from "./expressions.ts";
import { promptsOf } from "./variants.ts";

/** What of a run's state a text looks into. */
export interface Reads {
  readonly inputs: boolean;
  /** Ids of the steps whose outputs are read; "all" where only evaluating could tell. */
  readonly steps: ReadonlySet<string> | "all";
}

export const READS_NOTHING: Reads = { inputs: false, steps: new Set() };
const READS_ALL: Reads = { inputs: true, steps: "all" };

export function unionOfReads(all: readonly Reads[]): Reads {
  const steps = new Set<string>();
  let inputs = false;
  let everyStep = false;
  for (const reads of all) {
    inputs ||= reads.inputs;
    if (reads.steps === "all") everyStep = true;
    else for (const step of reads.steps) steps.add(step);
  }
  return { inputs, steps: everyStep ? "all" : steps };
}

const branchReads = new WeakMap<StepDefinition, Reads>();
const whenReads = new WeakMap<StepDefinition, Reads>();
const inputReads = new WeakMap<StepDefinition, Reads>();

/** What the condition of a graph's step looks into. */
export function readsOfWhen(step: StepDefinition): Reads {
  return step.when === "" ? READS_NOTHING : remember(whenReads, step, () => readsOfCondition(whenOf(step)));
}

function readsOfCondition(parsed: Result<Expression>): Reads {
  return parsed.ok ? unionOfReads(references(parsed.value).map((reference) => stateReads(reference.map((segment) => segment.name)))) : READS_NOTHING;
}

/** What a step's branch rules look into. */
export function readsOfBranches(step: StepDefinition): Reads {
  return remember(branchReads, step, () => unionOfReads(step.next.map((rule) => readsOfCondition(conditionOf(rule)))));
}

/**
 * What a step's input mapping and prompt look into. A path that names a whole output looks into nothing, because the value is passed on as it is; but a
 * prompt needs the text of what it is given.
 */
export function readsOfInput(step: StepDefinition): Reads {
  return remember(inputReads, step, () => {
    // The parts of a prompt, of a sub-run's inputs and of a time to wait for are needed as text.
    const reads = (source: InputSource) => readsOfSource(source, step.kind.case !== "agent" && step.kind.case !== "workflow");
    const all = Object.values(step.inputs).map(reads);
    const { kind } = step;
    if (kind.case === "agent") for (const text of promptsOf(kind.value)) all.push(readsOfTemplate(text, promptNames(step)));
    if (kind.case === "wait" && kind.value.kind.case === "until") all.push(readsOfSource(kind.value.kind.value, false));
    if (kind.case === "wait" && kind.value.kind.case === "approval") all.push(readsOfTemplate(kind.value.kind.value.question, runNames));
    return unionOfReads(all);
  });
}

function remember(memory: WeakMap<StepDefinition, Reads>, step: StepDefinition, compute: () => Reads): Reads {
  let reads = memory.get(step);
  if (reads === undefined) {
    reads = compute();
    memory.set(step, reads);
  }
  return reads;
}

/** What the list of a for_each looks into. */
export function readsOfItems(step: StepDefinition): Reads {
  return step.forEach?.items === undefined ? READS_NOTHING : readsOfSource(step.forEach.items, false);
}

function readsOfSource({ kind }: InputSource, handsOn: boolean): Reads {
  if (kind.case === "template") return readsOfTemplate(kind.value, runNames);
  if (kind.case !== "path") return READS_NOTHING;
  const path = parseStatePath(kind.value);
  if (path === undefined) return READS_NOTHING;
  return handsOn && path[0] === "steps" && path.length === 2 ? READS_NOTHING : namedReads(path);
}

/** What a template's placeholders look into; `named` says what a first name other than `state` stands for. */
export function readsOfTemplate(text: string, named: (path: readonly string[]) => Reads): Reads {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return READS_NOTHING;
  return unionOfReads(
    templateReferences(parsed.value).map(({ reference }) => {
      const path = reference.map((segment) => segment.name);
      return path[0] === "state" ? stateReads(path) : named(path);
    }),
  );
}

/** In an input's template, `inputs` and `steps` are the run's. */
export function runNames(path: readonly string[]): Reads {
  return namedReads(path);
}

/** In a prompt, `inputs` are the step's own; where it declares none they are the whole state. */
export function promptNames(step: StepDefinition): (path: readonly string[]) => Reads {
  const wholeState = Object.keys(step.inputs).length === 0;
  return (path) => (path[0] === "inputs" && wholeState ? stateReads(path) : READS_NOTHING);
}

/** Of a path whose first name stands for the whole state. */
function stateReads(path: readonly string[]): Reads {
  return path.length === 1 ? READS_ALL : namedReads(path.slice(1));
}

/** Of a path that begins inside the state. */
function namedReads(path: readonly string[]): Reads {
  switch (path[0]) {
    case "inputs":
      return { inputs: true, steps: new Set() };
    case "steps":
      return { inputs: false, steps: path[1] === undefined ? "all" : new Set([path[1]]) };
    default:
      return READS_NOTHING;
  }
}
