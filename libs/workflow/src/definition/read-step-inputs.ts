import { isTemplate, parseStatePath, parseTemplate } from "@forge/domain";
import { isScalar, isSeq, type Node } from "yaml";
import type { YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { checkKey, NAME_LENGTH_MAX } from "./names.ts";
import type { InputDraft } from "./step-draft.ts";

const NAMES_MAX = 1000;
const VALUE_BYTES_MAX = 65_536;

/** A step's `inputs`: a mapping of names to sources, or a contract list of names. */
export function readStepInputs(reader: YamlReader, node: Node): { readonly inputs: InputDraft[]; readonly contract: YamlText[] } {
  if (isSeq(reader.resolve(node))) return { inputs: [], contract: readNames(reader, node, "inputs") };
  const inputs: InputDraft[] = [];
  const entries = reader.mapping(node, "inputs");
  if (entries !== undefined && entries.size > NAMES_MAX) reader.problems.add(startOf(node), `${entries.size} inputs; at most ${NAMES_MAX} are allowed`);
  for (const { key, offset, value } of entries?.values() ?? []) {
    checkKey(reader.problems, "input", { text: key, offset });
    const draft = readSource(reader, key, value);
    if (draft !== undefined) inputs.push(draft);
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

/** A text that is a state path is one; a text with `{{` is a template; everything else is what it is. */
function readSource(reader: YamlReader, name: string, node: Node): InputDraft | undefined {
  const what = `input ${name}`;
  const scalar = reader.resolve(node);
  if (!isScalar(scalar) || typeof scalar.value !== "string") return literal(reader, name, node);
  const written = reader.text(node, what, VALUE_BYTES_MAX);
  if (written === undefined) return undefined;
  if (parseStatePath(written.text) !== undefined) return { name, source: { case: "path", value: written.text }, written, template: undefined };
  if (!isTemplate(written.text)) return literal(reader, name, node);
  const template = parseTemplate(written.text);
  if (template.ok) return { name, source: { case: "template", value: written.text }, written, template: template.value };
  reader.problems.add(reader.source.offsetInScalar(written.node, template.error.position), `${what}: ${template.error.message}`);
  return undefined;
}

function literal(reader: YamlReader, name: string, node: Node): InputDraft | undefined {
  const value = reader.json(node, `input ${name}`);
  if (value === undefined) return undefined;
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  if (bytes > VALUE_BYTES_MAX) reader.problems.add(startOf(node), `input ${name} has ${bytes} bytes of JSON; at most ${VALUE_BYTES_MAX} are allowed`);
  if (isTemplate(json)) reader.problems.warn(startOf(node), `input ${name}: \`{{\` inside a list or mapping stays as it is; only a text is a template`);
  return { name, source: { case: "literalJson", value: json }, written: undefined, template: undefined };
}
