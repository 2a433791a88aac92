import { isSeq, type Node } from "yaml";
import type { YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { checkKey, NAME_LENGTH_MAX } from "./names.ts";
import { readSource } from "./read-source.ts";
import type { InputDraft } from "./step-draft.ts";

const NAMES_MAX = 1000;

/** A step's `inputs`: a mapping of names to sources, or a contract list of names. Sources see `names` beside the state. */
export function readStepInputs(reader: YamlReader, node: Node, names: readonly string[]): { readonly inputs: InputDraft[]; readonly contract: YamlText[] } {
  if (isSeq(reader.resolve(node))) return { inputs: [], contract: readNames(reader, node, "inputs") };
  const inputs: InputDraft[] = [];
  const entries = reader.mapping(node, "inputs");
  if (entries !== undefined && entries.size > NAMES_MAX) reader.problems.add(startOf(node), `${entries.size} inputs; at most ${NAMES_MAX} are allowed`);
  for (const { key, offset, value } of entries?.values() ?? []) {
    checkKey(reader.problems, "input", { text: key, offset });
    const draft = readSource(reader, `input ${key}`, value, names);
    if (draft !== undefined) inputs.push({ name: key, offset, ...draft });
  }
  return { inputs, contract: [] };
}

/** A list of names, each once: a contract's inputs or outputs. */
export function readNames(reader: YamlReader, node: Node, what: "inputs" | "outputs"): YamlText[] {
  const names = new Map<string, YamlText>();
  const items = reader.list(node, what) ?? [];
  if (items.length > NAMES_MAX) reader.problems.add(startOf(node), `${items.length} ${what}; at most ${NAMES_MAX} are allowed`);
  for (const item of items) {
    const name = checkKey(reader.problems, what.slice(0, -1), reader.text(item, `an item of ${what}`, NAME_LENGTH_MAX));
    if (name !== undefined && names.has(name.text)) reader.problems.add(name.offset, `\`${name.text}\` stands twice in ${what}`);
    else if (name !== undefined) names.set(name.text, name);
  }
  return Array.from(names.values());
}
