import { create } from "@bufbuild/protobuf";
import { toolIdentity } from "@forge/protocol";
import { RiskLevel, ToolPreviewSchema, type ToolSpec } from "@forge/protocol/tool";
import { failure, type TaskHandler } from "@forge/worker";
import type { ToolDefinition } from "../tools/tool-definition.ts";
import { toolHandler } from "../tools/tool-handler.ts";
import type { PipelineOptions } from "../tools/tool-pipeline.ts";
import { canonicalJson, sha256 } from "./canonical-json.ts";
import { type CatalogueTool, describeChange } from "./mcp-catalogue.ts";
import { toolChanged } from "./mcp-errors.ts";
import type { McpLink } from "./mcp-link.ts";

const TITLE_MAX = 256;

/** The definitions of a tool that were served, by what decisions are bound to. */
export type ServedTools = Map<string, CatalogueTool>;

/** Of all servers together; beyond it, a change is told without what it was. */
const SERVED_MAX = 2048;

/**
 * Serves a tool of a server. What the server says of its own tools' harmlessness grants nothing: every call executes. A call that was decided on for another
 * definition of the tool is refused, and so is one where the server's definition is another by now.
 */
export function mcpToolHandler(
  link: McpLink,
  tool: CatalogueTool,
  options: { readonly timeoutMs: number; readonly served: ServedTools; readonly pipeline?: PipelineOptions },
): TaskHandler {
  const handler = toolHandler(mcpTool(link, tool, options.timeoutMs), options.pipeline);
  const { served } = options;
  const digest = sha256(toolIdentity(handler.capability.tool as ToolSpec));
  if (served.size < SERVED_MAX) served.set(digest, tool);
  return {
    capability: handler.capability,
    async run(context) {
      const { kind } = context.task;
      const decided = kind.case === "tool" ? (kind.value.decision?.toolDigest ?? "") : "";
      if (decided === "" || decided === digest) return await handler.run(context);
      const before = served.get(decided);
      return failure(toolChanged(link.server.name, tool.remoteName, before === undefined ? "its definition" : describeChange(before, tool)), 0);
    },
  };
}

function mcpTool(link: McpLink, tool: CatalogueTool, timeoutMs: number): ToolDefinition<Record<string, unknown>> {
  const { server } = link;
  const facts = canonicalJson({ server: server.digest, tool: tool.digest });
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: tool.schema,
    foreignSchema: true,
    idempotent: false,
    risk: RiskLevel.EXECUTE,
    sourceDigest: server.digest,
    timeoutMs,
    // A program works in the workspace, whatever it says that it does.
    observes: server.kind === "stdio",
    async preview(args, { signal }) {
      await link.check(tool, signal);
      const shown = canonicalJson(args);
      return create(ToolPreviewSchema, {
        title: cut(`${server.name}: ${tool.remoteName} ${shown}`),
        risk: RiskLevel.EXECUTE,
        factsJson: facts,
        // Nobody but the server knows what another argument would do: a rule is of exactly this call.
        ruleKey: `mcp:${server.digest.slice(0, 32)}:${sha256(tool.remoteName).slice(0, 32)}:${sha256(shown)}`,
        ruleTitle: cut(`${tool.remoteName} of ${server.name} with exactly these arguments: ${shown}`),
      });
    },
    async execute(args, call) {
      if (call.previewed !== undefined && call.previewed.factsJson !== facts)
        throw toolChanged(server.name, tool.remoteName, "its definition or its server's configuration");
      // A call that goes on was checked when it began.
      if (call.resumeJson === "") await link.check(tool, call.signal);
      return await link.call(tool, args, call);
    },
  };
}

function cut(text: string): string {
  return text.length <= TITLE_MAX ? text : `${text.slice(0, TITLE_MAX - 1)}…`;
}
