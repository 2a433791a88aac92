import { RiskLevel } from "@forge/protocol/tool";
import { type GlobOptions, globWorkspace } from "../search/glob-workspace.ts";
import { isCostly } from "../search/path-matcher.ts";
import { searchInThread } from "../search/search-in-thread.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import type { ToolDefinition } from "./tool-definition.ts";

const RESULTS_MAX = 1_000;

/** Names the workspace's files that a pattern matches. */
export function globTool(guard: WorkspaceGuard): ToolDefinition<{ pattern: string; path?: string }> {
  return {
    name: "tools.glob",
    description:
      `The paths of the workspace's files that a pattern matches, for example **/*.ts, src/**/test-*.md or *.json (at any depth); at most ${RESULTS_MAX}. ` +
      "Left out: what ignore files (.gitignore, .ignore) name, .git, node_modules.",
    inputSchema: {
      type: "object",
      properties: {
        pattern: { type: "string", minLength: 1, maxLength: 256 },
        path: { type: "string", minLength: 1, maxLength: 4_096, description: "The directory that the pattern is relative to. Absent: the workspace." },
      },
      required: ["pattern"],
      additionalProperties: false,
    },
    idempotent: true,
    risk: RiskLevel.READ,
    timeoutMs: 30_000,
    execute: async ({ pattern, path = "." }, call) => {
      const options: GlobOptions = { pattern, path, maxResults: RESULTS_MAX };
      const result = isCostly(pattern) ? await searchInThread(guard, "glob", options, call.signal) : await globWorkspace(guard, options, call.signal);
      return { ...result };
    },
  };
}
