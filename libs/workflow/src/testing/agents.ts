import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@forge/protocol/session";
import { AgentStepSchema } from "@forge/protocol/workflow";
import type { AgentSource } from "../agent/agent-source.ts";

/** Agents for tests: `reviewer@v1`, whose prompt reads `inputs.diff`. */
export const agents: AgentSource = {
  find: (id, version) => {
    if (id !== "reviewer" || (version ?? "v1") !== "v1") return { kind: "unknown", known: ["reviewer"], unreadable: [] };
    const agent = create(AgentStepSchema, {
      agent: create(AgentSpecSchema, { model: "demo/echo", tools: ["tools.file"] }),
      prompt: "Look at {{ inputs.diff }}",
      agentId: id,
      agentVersion: "v1",
    });
    return { kind: "found", agent: { agent, pipeline: [], description: "Reviews a diff.", warnings: [] } };
  },
};

/** No agents at all. */
export const noAgents: AgentSource = { find: () => ({ kind: "unknown", known: [], unreadable: [] }) };
