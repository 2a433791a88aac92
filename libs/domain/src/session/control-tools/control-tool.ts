import type { ToolSpec } from "@forge/protocol/tool";
import { ASK_TOOL, QUESTION_EXPECTED, questionOf } from "./ask-tool.ts";
import { AUTO_CONTINUE_TOOL } from "./auto-continue-tool.ts";
import { PLAN_EXPECTED, PLAN_TOOL, planOf } from "./plan-tool.ts";

/** A tool that the control plane itself serves: no worker is asked. Its calls pass the gate like any other's. */
export interface ControlTool {
  readonly spec: ToolSpec;
  /** What was expected of arguments that are a JSON object but not what the tool takes; undefined where they are. */
  problem(argumentsJson: string): string | undefined;
}

const CONTROL_TOOLS: ReadonlyMap<string, ControlTool> = new Map(
  [
    { spec: ASK_TOOL, problem: (json: string) => (questionOf(json) === undefined ? QUESTION_EXPECTED : undefined) },
    { spec: PLAN_TOOL, problem: (json: string) => (planOf(json) === undefined ? PLAN_EXPECTED : undefined) },
    { spec: AUTO_CONTINUE_TOOL, problem: () => undefined },
  ].map((tool) => [tool.spec.name, tool]),
);

/** The tool of this name that the control plane serves; undefined where a worker has to. */
export function controlTool(name: string): ControlTool | undefined {
  return CONTROL_TOOLS.get(name);
}
