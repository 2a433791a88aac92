import type { AgentSpec } from "@forge/protocol/session";
import { subAgentOf, TASK_EXPECTED, taskOf } from "../sub-agents/sub-agent.ts";
import { controlTool } from "./control-tool.ts";

/** What was expected of the arguments of a tool that the control plane looks into; undefined where they are as expected, and for every other tool. */
export function argumentsProblem(agent: AgentSpec | undefined, tool: string, argumentsJson: string): string | undefined {
  const own = controlTool(tool);
  if (own !== undefined) return own.problem(argumentsJson);
  return subAgentOf(agent, tool) !== undefined && taskOf(argumentsJson) === undefined ? TASK_EXPECTED : undefined;
}
