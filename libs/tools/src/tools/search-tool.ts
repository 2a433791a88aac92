import { ForgeError } from "@forge/protocol";
import { RiskLevel } from "@forge/protocol/tool";
import { isCostly } from "../search/path-matcher.ts";
import { searchInThread } from "../search/search-in-thread.ts";
import { type SearchOptions, searchWorkspace } from "../search/search-workspace.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import type { ToolDefinition } from "./tool-definition.ts";

interface SearchArguments {
  pattern: string;
  path?: string;
  glob?: string;
  max_results?: number;
  regex?: boolean;
}

const RESULTS = 100;
const RESULTS_MAX = 1_000;

/** Finds lines in the workspace's text files. */
export function searchTool(guard: WorkspaceGuard): ToolDefinition<SearchArguments> {
  return {
    name: "tools.search",
    description:
      "Finds lines in the workspace's text files: file, line number, text. The pattern is literal text, or with regex a JavaScript regular expression, within one line. " +
      "Left out: what ignore files (.gitignore, .ignore) name, .git, node_modules, binary files, files over 1 MiB.",
    inputSchema: {
      type: "object",
      properties: {
        pattern: { type: "string", minLength: 1, maxLength: 1_000 },
        path: { type: "string", minLength: 1, maxLength: 4_096, description: "A file or directory, relative to the workspace. Absent: all of it." },
        glob: { type: "string", minLength: 1, maxLength: 256, description: "Which files, for example *.ts or src/**/*.md." },
        max_results: { type: "integer", minimum: 1, maximum: RESULTS_MAX, description: `Absent: ${RESULTS}.` },
        regex: { type: "boolean" },
      },
      required: ["pattern"],
      additionalProperties: false,
    },
    idempotent: true,
    risk: RiskLevel.READ,
    timeoutMs: 30_000,
    execute: async ({ pattern, path = ".", glob, max_results: maxResults = RESULTS, regex = false }, call) => {
      if (/[\r\n]/.test(pattern) && !regex) throw ForgeError.validation("arguments.pattern", "a pattern is within one line", { origin: "tool" });
      if (regex) parseExpression(pattern);
      const options: SearchOptions = { pattern, path, glob, maxResults, regex };
      const isSlow = regex || (glob !== undefined && isCostly(glob));
      const result = isSlow ? await searchInThread(guard, "search", options, call.signal) : await searchWorkspace(guard, options, call.signal);
      return { ...result };
    },
  };
}

function parseExpression(pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (error) {
    throw ForgeError.validation("arguments.pattern", (error as Error).message, { origin: "tool", cause: error });
  }
}
