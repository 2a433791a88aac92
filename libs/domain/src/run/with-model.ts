import type { AgentSpec } from "@forge/protocol/session";

/** The agent with the run's model in the place of its own, which then stands in for none; as it is where the run has none. */
export function withModel(agent: AgentSpec, modelOverride: string): AgentSpec {
  if (modelOverride === "") return agent;
  return { ...agent, model: modelOverride, fallbackModels: agent.fallbackModels.filter((model) => model !== modelOverride) };
}
