import { isScalar, type Node } from "yaml";
import type { YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { NAME_LENGTH_MAX } from "./names.ts";

const NEEDS_MAX = 1000;

/** A step's `needs`: ids of steps, or one. */
export function readNeeds(reader: YamlReader, node: Node): YamlText[] {
  const items = isScalar(reader.resolve(node)) ? [node] : (reader.list(node, "needs") ?? []);
  if (items.length > NEEDS_MAX) {
    reader.problems.add(startOf(node), `${items.length} needs; at most ${NEEDS_MAX} are allowed`);
    return [];
  }
  const needs = new Map<string, YamlText>();
  for (const item of items) {
    const need = reader.text(item, "an item of needs", NAME_LENGTH_MAX);
    if (need !== undefined && needs.has(need.text)) reader.problems.add(need.offset, `\`${need.text}\` stands twice in needs`);
    else if (need !== undefined) needs.set(need.text, need);
  }
  return Array.from(needs.values());
}
