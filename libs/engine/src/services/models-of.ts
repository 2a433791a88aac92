import type { AgentSpec } from "@forge/protocol/session";

/** Sub-agents are checked no deeper than they may be; what is deeper is refused for that. */
const DEPTH_MAX = 8;

/** The models that an agent, its fallbacks and its sub-agents name, each once. */
export function modelsOf(agent: AgentSpec | undefined, depth = 0): readonly string[] {
  if (agent === undefined || depth > DEPTH_MAX) return [];
  const own = [agent.model, ...agent.fallbackModels].filter((model) => model !== "");
  return [...new Set([...own, ...agent.subAgents.flatMap((sub) => modelsOf(sub.agent, depth + 1))])];
}
