import type { WorkflowDefinition } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { WARNINGS_MAX } from "./limits.ts";

/** Tools may come later than the run, so they are warned of and not refused; those of workflows inside of it as well. At most WARNINGS_MAX. */
export function unservedTools(definition: WorkflowDefinition, queue: string, context: Pick<Context, "tools">): string[] {
  const served = new Set(context.tools(queue).map((tool) => tool.name));
  const warnings: string[] = [];
  for (const [place, tool] of toolsOf(definition, "")) {
    if (served.has(tool)) continue;
    warnings.push(`step "${place}" uses the tool "${tool}", which no worker of queue "${queue}" serves yet`);
    if (warnings.length === WARNINGS_MAX) break;
  }
  return warnings;
}

function* toolsOf({ steps }: WorkflowDefinition, within: string): Generator<readonly [place: string, tool: string]> {
  for (const { id, kind } of steps) {
    const place = `${within}${id}`;
    if (kind.case === "workflow" && kind.value.definition !== undefined) yield* toolsOf(kind.value.definition, `${place}/`);
    const tools = kind.case === "tool" ? [kind.value.tool] : kind.case === "agent" ? (kind.value.agent?.tools ?? []) : [];
    for (const tool of tools) yield [place, tool];
  }
}
