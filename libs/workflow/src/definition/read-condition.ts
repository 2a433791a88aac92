import { parseExpression } from "@forge/domain";
import type { Node } from "yaml";
import type { YamlReader } from "../yaml/yaml-reader.ts";
import type { ConditionDraft } from "./step-draft.ts";

const WHEN_LENGTH_MAX = 4096;

/** An expression over `state`. */
export function readCondition(reader: YamlReader, node: Node, what: string): ConditionDraft | undefined {
  const when = reader.text(node, what, WHEN_LENGTH_MAX);
  if (when === undefined) return undefined;
  const parsed = parseExpression(when.text);
  if (parsed.ok) return { when, expression: parsed.value };
  reader.problems.add(reader.source.offsetInScalar(when.node, parsed.error.position), `${what}: ${parsed.error.message}`);
  return undefined;
}
