import { isMap, type Node } from "yaml";
import type { YamlEntry, YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { NAME_LENGTH_MAX } from "./names.ts";
import { readCondition } from "./read-condition.ts";
import type { NextDraft, NextDrafts } from "./step-draft.ts";

const RULES_MAX = 100;

/** A step's `next`: a list of `{when, goto}` with at most one `{default}`, or one mapping of the same keys. */
export function readNext(reader: YamlReader, node: Node): NextDrafts {
  const rules: NextDraft[] = [];
  const defaults: YamlText[] = [];
  const nodes = isMap(reader.resolve(node)) ? [node] : (reader.list(node, "next") ?? []);
  if (nodes.length > RULES_MAX) reader.problems.add(startOf(node), `${nodes.length} next rules; at most ${RULES_MAX} are allowed`);
  for (const item of nodes) {
    const entries = reader.mapping(item, "a next rule");
    if (entries === undefined) continue;
    reader.checkKeys(entries, "a next rule", ["when", "goto", "default"]);
    const rule = readRule(reader, entries, startOf(item));
    if (rule !== undefined) rules.push(rule);
    const fallback = entries.get("default");
    const target = fallback && reader.text(fallback.value, "next.default", NAME_LENGTH_MAX);
    if (fallback !== undefined && defaults.length > 0) reader.problems.add(fallback.offset, "a second default; expected one");
    if (target !== undefined) defaults.push(target);
  }
  return { rules, default: defaults[0] };
}

function readRule(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>, at: number): NextDraft | undefined {
  const [when, goto] = [entries.get("when"), entries.get("goto")];
  if (when === undefined && goto === undefined) {
    if (!entries.has("default")) reader.problems.add(at, "an empty next rule; expected when and goto, or default");
    return undefined;
  }
  if (when === undefined) reader.problems.add(at, "a next rule has goto and no when; expected both, or default");
  if (goto === undefined) reader.problems.add(at, "a next rule has when and no goto; expected both");
  const condition = when && readCondition(reader, when.value, "next.when");
  const target = goto && reader.text(goto.value, "next.goto", NAME_LENGTH_MAX);
  return condition && target ? { ...condition, goto: target } : undefined;
}
