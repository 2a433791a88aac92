import type { WorkflowDefinition } from "@forge/protocol/workflow";
import { isMap, isScalar, isSeq } from "yaml";
import { type Position, startOf, YamlSource } from "../yaml/yaml-source.ts";

/** Where a workflow's text first names a function; undefined where it does not, or behind an alias. */
export function locateFunction({ workflowYaml }: WorkflowDefinition, name: string): Position | undefined {
  const source = new YamlSource(workflowYaml, "");
  const steps = isMap(source.root) ? source.root.get("steps", true) : undefined;
  if (!isSeq(steps)) return undefined;
  for (const step of steps.items) {
    const node = isMap(step) ? step.get("function", true) : undefined;
    if (isScalar(node) && node.value === name) return source.position(startOf(node));
  }
  return undefined;
}
