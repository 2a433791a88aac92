import { create } from "@bufbuild/protobuf";
import { type InputDeclaration, InputDeclarationSchema } from "@forge/protocol/workflow";
import { isScalar, isSeq, type Node } from "yaml";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import { checkKey, NAME_LENGTH_MAX } from "./names.ts";

const DESCRIPTION_LENGTH_MAX = 4096;
const INPUTS_MAX = 1000;

/**
 * The workflow's declared inputs, in their three forms: `inputs` as a mapping (description, required, default), `inputs` as a list of names, or the older list
 * `inputs_contract`. Undefined where none of them stands: then they are inferred from what the steps read.
 */
export function readInputs(reader: YamlReader, top: ReadonlyMap<string, YamlEntry>): InputDeclaration[] | undefined {
  const [inputs, contract] = [top.get("inputs"), top.get("inputs_contract")];
  if (inputs !== undefined && contract !== undefined) reader.problems.add(contract.offset, "inputs and inputs_contract; expected one of them");
  const entry = inputs ?? contract;
  if (entry === undefined) return undefined;
  const isList = inputs === undefined || isSeq(reader.resolve(inputs.value));
  const declarations = isList ? listed(reader, entry) : mapped(reader, entry);
  if (declarations.length > INPUTS_MAX) reader.problems.add(entry.offset, `${declarations.length} inputs; at most ${INPUTS_MAX} are allowed`);
  return declarations;
}

function listed(reader: YamlReader, { key, value }: YamlEntry): InputDeclaration[] {
  const names = new Set<string>();
  for (const item of reader.list(value, key) ?? []) {
    const name = checkKey(reader.problems, "input", reader.text(item, `an item of ${key}`, NAME_LENGTH_MAX));
    if (name !== undefined && names.has(name.text)) reader.problems.add(name.offset, `duplicate input \`${name.text}\``);
    if (name !== undefined) names.add(name.text);
  }
  return Array.from(names, (name) => create(InputDeclarationSchema, { name, required: true }));
}

function mapped(reader: YamlReader, { value }: YamlEntry): InputDeclaration[] {
  const declarations: InputDeclaration[] = [];
  for (const entry of reader.mapping(value, "inputs")?.values() ?? []) {
    const node = reader.resolve(entry.value);
    const isValid = checkKey(reader.problems, "input", { text: entry.key, offset: entry.offset }) !== undefined;
    if (isScalar(node) && node.value === null) declarations.push(create(InputDeclarationSchema, { name: entry.key, required: true }));
    else if (isValid) declarations.push(declared(reader, entry.key, entry.value));
  }
  return declarations;
}

function declared(reader: YamlReader, name: string, node: Node): InputDeclaration {
  const what = `input ${name}`;
  const entries = reader.mapping(node, what) ?? new Map<string, YamlEntry>();
  reader.checkKeys(entries, what, ["description", "required", "default"]);
  const [description, required, fallback] = [entries.get("description"), entries.get("required"), entries.get("default")];
  const value = fallback && reader.json(fallback.value, `the default of ${what}`);
  return create(InputDeclarationSchema, {
    name,
    description: description && reader.text(description.value, `the description of ${what}`, DESCRIPTION_LENGTH_MAX)?.text,
    // A default makes an input optional unless it says otherwise.
    required: (required && reader.boolean(required.value, `required of ${what}`)) ?? fallback === undefined,
    defaultJson: value === undefined ? undefined : JSON.stringify(value),
  });
}
