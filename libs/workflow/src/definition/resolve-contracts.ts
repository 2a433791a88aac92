import type { Problems } from "../yaml/problems.ts";
import { unknownName } from "../yaml/problems.ts";
import type { YamlText } from "../yaml/yaml-reader.ts";
import type { StepOrder } from "./check-graph.ts";
import { itemNames, type StepDraft } from "./step-draft.ts";

/**
 * The state paths that contract lists stand for, by step: a name is the item of the step's list, else the output of the one earlier step that declares it, else
 * an input of the workflow. In a graph, those are earlier that a step needs. Two earlier steps that write it make it ambiguous; one that comes later is a read
 * of the future.
 */
export function resolveContracts(
  problems: Problems,
  steps: readonly StepDraft[],
  inputs: ReadonlySet<string>,
  order: StepOrder,
): Map<StepDraft, Map<string, string>> {
  const resolved = new Map<StepDraft, Map<string, string>>();
  const producers = collectProducers(steps);
  for (const [position, step] of steps.entries()) {
    const paths = new Map<string, string>();
    const isEarlier = (other: Producer): boolean => (order.kind === "graph" ? order.ancestors.has(step.id.text, other.id) : other.position < position);
    for (const name of step.contract) {
      const earlier = (producers.get(name.text) ?? []).filter(isEarlier).map(({ id }) => id);
      const path = itemNames(step.forEach).includes(name.text)
        ? name.text
        : resolve(problems, step, name, earlier.slice(-3), inputs, producers, order.kind !== "sequence");
      if (path !== undefined) paths.set(name.text, path);
    }
    if (step.contract.length > 0) resolved.set(step, paths);
  }
  return resolved;
}

/** A step that declares an output. */
interface Producer {
  readonly id: string;
  readonly position: number;
}

function resolve(
  problems: Problems,
  step: StepDraft,
  name: YamlText,
  earlier: readonly string[],
  inputs: ReadonlySet<string>,
  all: ReadonlyMap<string, readonly Producer[]>,
  isGraph: boolean,
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
  const later = all.get(name.text)?.at(-1)?.id;
  if (later !== undefined) {
    const relation = later === step.id.text ? "comes from itself" : isGraph ? "it does not need" : "comes later";
    const expected = isGraph ? "an input or an output of a step that it needs" : "an input or an output of an earlier step";
    problems.add(name.offset, `step ${step.id.text} reads ${name.text} of step ${later}, which ${relation}; expected ${expected}`);
    return undefined;
  }
  problems.add(name.offset, unknownName(`input of step ${step.id.text}`, name.text, [...inputs, ...all.keys()]));
  return undefined;
}

/** The steps that declare an output, by its name; the output of a for_each is a list, which has no names. */
function collectProducers(steps: readonly StepDraft[]): Map<string, Producer[]> {
  const producers = new Map<string, Producer[]>();
  for (const [position, { id, outputs, forEach }] of steps.entries()) {
    for (const { text } of forEach === undefined ? outputs : []) {
      const known = producers.get(text);
      if (known === undefined) producers.set(text, [{ id: id.text, position }]);
      else known.push({ id: id.text, position });
    }
  }
  return producers;
}
