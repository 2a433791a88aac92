import { create } from "@bufbuild/protobuf";
import type { AgentSpec, ParentCall, SubAgent } from "@forge/protocol/session";
import { RiskLevel, type ToolSpec, ToolSpecSchema } from "@forge/protocol/tool";
import type { Context } from "../../decider.ts";

/** Reserved for sub-agents: no agent names a tool so. */
export const SUB_AGENT_PREFIX = "agent.";

/** Sessions below the root; the one at this depth calls no further. */
export const DEPTH_MAX = 4;

/** The sub-agent that a tool's name stands for; undefined where it is another tool. */
export function subAgentOf(agent: AgentSpec | undefined, tool: string): SubAgent | undefined {
  if (!tool.startsWith(SUB_AGENT_PREFIX)) return undefined;
  return agent?.subAgents.find(({ name }) => `${SUB_AGENT_PREFIX}${name}` === tool);
}

/**
 * The agent's sub-agents as tools. The call itself only reads: whatever the sub-agent then does passes its own session's gate, under the caller's policy and
 * mode. Its digest is part of the tool's, so that what was granted to one is not granted to another of the same name.
 */
export function subAgentTools(context: Pick<Context, "sha256">, agent: AgentSpec | undefined, parentCall: ParentCall | undefined): ToolSpec[] {
  if ((parentCall?.depth ?? 0) >= DEPTH_MAX) return [];
  return (agent?.subAgents ?? []).map(({ name, description, agent: spec, history }) =>
    create(ToolSpecSchema, {
      name: `${SUB_AGENT_PREFIX}${name}`,
      description: description === "" ? `Lets the agent ${name} do a task, and returns its answer.` : description,
      inputSchemaJson: TASK_SCHEMA,
      risk: RiskLevel.READ,
      sourceDigest: context.sha256(JSON.stringify([spec?.model, spec?.system, spec?.tools, history])),
    }),
  );
}

const TASK_MAX = 16_384;

const TASK_SCHEMA = JSON.stringify({
  type: "object",
  properties: {
    task: {
      type: "string",
      minLength: 1,
      maxLength: TASK_MAX,
      description: "What is to be done and what to answer, in full: the agent may know nothing else.",
    },
  },
  required: ["task"],
});

/** The task in a call's arguments, a JSON object; undefined where they hold none. */
export function taskOf(argumentsJson: string): string | undefined {
  const { task } = JSON.parse(argumentsJson) as { readonly task?: unknown };
  return typeof task === "string" && task.trim() !== "" && task.length <= TASK_MAX && task.isWellFormed() && !task.includes("\u0000") ? task : undefined;
}

/** What a call of a sub-agent has to look like, for a model that got it wrong. */
export const TASK_EXPECTED = `The argument task has to be a text of 1 to ${TASK_MAX} characters.`;
