import type { Scale } from "../../scale.ts";

/** How large what agents work on is. */
export interface AgentScale {
  readonly repositoryFiles: number;
}

export const AGENT_FULL: AgentScale = { repositoryFiles: 100_000 };
/** Says whether it works, and roughly how fast, in about two minutes. */
export const AGENT_QUICK: AgentScale & Pick<Scale, "rounds"> = { repositoryFiles: 10_000, rounds: 2 };
