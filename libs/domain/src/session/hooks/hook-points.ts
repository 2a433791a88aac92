import type { AgentSpec, HookAt, HookSpec } from "@forge/protocol/session";

/** One of the agent's hooks, and where it stands among them. */
export interface PlacedHook {
  readonly index: number;
  readonly spec: HookSpec;
}

/** The first of the agent's hooks at a point, from an index on; undefined where none is left. */
export function nextHook(agent: AgentSpec | undefined, at: HookAt, from: number): PlacedHook | undefined {
  for (const [index, spec] of (agent?.hooks ?? []).entries()) {
    if (index >= from && spec.at.includes(at)) return { index, spec };
  }
  return undefined;
}
