import type { Problems } from "../yaml/problems.ts";
import { unknownName } from "../yaml/problems.ts";
import type { YamlText } from "../yaml/yaml-reader.ts";
import type { StepDraft } from "./step-draft.ts";

/**
 * The state paths that contract lists stand for, by step: a name is the output of the one earlier step that declares it, else an input of the workflow. Two
 * earlier steps that write it make it ambiguous; one that comes later is a read of the future.
 */
export function resolveContracts(problems: Problems, steps: readonly StepDraft[], inputs: ReadonlySet<string>): Map<StepDraft, Map<string, string>> {
  const resolved = new Map<StepDraft, Map<string, string>>();
  const producers = new Map<string, string[]>();
  const allProducers = collectProducers(steps);
  for (const step of steps) {
    const paths = new Map<string, string>();
    for (const name of step.contract) {
      const path = resolve(problems, step, name, producers.get(name.text) ?? [], inputs, allProducers);
      if (path !== undefined) paths.set(name.text, path);
    }
    if (step.contract.length > 0) resolved.set(step, paths);
    for (const { text } of step.outputs) producers.set(text, [...(producers.get(text) ?? []), step.id.text].slice(-3));
  }
  return resolved;
}

function resolve(
  problems: Problems,
  step: StepDraft,
  name: YamlText,
  earlier: readonly string[],
  inputs: ReadonlySet<string>,
  all: ReadonlyMap<string, string>,
): string | undefined {
  const [producer, other] = earlier;
  if (other !== undefined) {
    problems.add(
      name.offset,
      `input ${name.text} of step ${step.id.text} is written by steps ${earlier.join(" and ")}; expected a mapping, for example \`${name.text}: steps.${other}.${name.text}\``,
    );
    return undefined;
  }
  if (producer !== undefined) return `steps.${producer}.${name.text}`;
  if (inputs.has(name.text)) return `inputs.${name.text}`;
  const later = all.get(name.text);
  if (later !== undefined) {
    problems.add(
      name.offset,
      `step ${step.id.text} reads ${name.text} of step ${later}, which comes ${later === step.id.text ? "from itself" : "later"}; expected an input or an output of an earlier step`,
    );
    return undefined;
  }
  problems.add(name.offset, unknownName(`input of step ${step.id.text}`, name.text, [...inputs, ...all.keys()]));
  return undefined;
}

function collectProducers(steps: readonly StepDraft[]): Map<string, string> {
  const producers = new Map<string, string>();
  for (const step of steps) for (const { text } of step.outputs) producers.set(text, step.id.text);
  return producers;
}
