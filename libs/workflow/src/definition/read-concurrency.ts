import { create } from "@bufbuild/protobuf";
import { parseTemplate, templateReferences } from "@forge/domain";
import { type Concurrency, ConcurrencySchema } from "@forge/protocol/workflow";
import { isMap, type Node } from "yaml";
import { unknownName } from "../yaml/problems.ts";
import type { YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";

const KEY_LENGTH_MAX = 256;
const LIMIT_MAX = 1000;

/** What a workflow says of it, and where. */
export interface ReadConcurrency {
  readonly concurrency: Concurrency;
  readonly key: YamlText;
}

/** A workflow's `concurrency`: what its runs share, as a text, or as a mapping with `key` and `limit` (1). */
export function readConcurrency(reader: YamlReader, node: Node | null): ReadConcurrency | undefined {
  const resolved = reader.resolve(node);
  if (!isMap(resolved)) {
    const key = reader.text(node, "concurrency", KEY_LENGTH_MAX);
    return key && { concurrency: create(ConcurrencySchema, { key: key.text }), key };
  }
  const entries = reader.mapping(node, "concurrency");
  if (entries === undefined) return undefined;
  reader.checkKeys(entries, "concurrency", ["key", "limit"]);
  const [given, limit] = [entries.get("key"), entries.get("limit")];
  if (given === undefined) {
    reader.problems.add(startOf(node), "concurrency has no `key`; expected a text that says what runs share");
    return undefined;
  }
  const key = reader.text(given.value, "concurrency.key", KEY_LENGTH_MAX);
  const runs = limit && reader.number(limit.value, "concurrency.limit", 1, LIMIT_MAX, true);
  return key && { concurrency: create(ConcurrencySchema, { key: key.text, limit: runs ?? 0 }), key };
}

/** The key is rendered before anything has run, so it can read inputs alone. */
export function checkConcurrency({ problems }: YamlReader, { key }: ReadConcurrency, inputs: ReadonlySet<string>): void {
  if (key.text.trim() === "") problems.add(key.offset, "the concurrency key is empty; expected a text that says what runs share");
  const template = parseTemplate(key.text);
  if (!template.ok) {
    problems.add(key.offset, `the concurrency key can't be read: ${template.error.message} (at character ${template.error.position + 1})`);
    return;
  }
  for (const { reference } of templateReferences(template.value)) {
    const [root, name] = reference;
    if (root?.name !== "inputs")
      problems.add(key.offset, `the concurrency key reads "${root?.name}"; expected inputs alone, since nothing else is known when the run starts`);
    else if (name !== undefined && !inputs.has(name.name))
      problems.add(key.offset, `the concurrency key reads an ${unknownName("input", name.name, [...inputs])}`);
  }
}
