import { ToolMode, type ToolPreview } from "@forge/protocol/tool";
import type { JsonValue, ToolCall, ToolDefinition } from "../tools/tool-definition.ts";

/** A call with nothing special about it, and what a test wants to be different. */
export function toolCall(options: Partial<ToolCall> = {}): ToolCall {
  return {
    signal: new AbortController().signal,
    mode: ToolMode.ACT,
    idempotencyKey: "key",
    owner: { sessionId: "session", turnId: "turn", runId: "", stepId: "" },
    putArtifact: () => Promise.reject(new Error("no artifacts here")),
    getArtifact: () => Promise.reject(new Error("no artifacts here")),
    previewed: undefined,
    inputs: [],
    resumeJson: "",
    report: () => {},
    progress: () => {},
    structured: () => {},
    changed: () => {},
    readsOnly: () => {},
    ...options,
  };
}

/** What a tool tells of a call beforehand. */
export function previewOf<Arguments>(tool: ToolDefinition<Arguments>, args: Arguments, options: Partial<ToolCall> = {}): Promise<ToolPreview> {
  if (tool.preview === undefined) throw new Error(`${tool.name} has no preview`);
  return tool.preview(args, toolCall(options));
}

/** Makes a call; its output as an object. */
export async function callTool<Arguments>(
  tool: ToolDefinition<Arguments>,
  args: Arguments,
  options: Partial<ToolCall> = {},
): Promise<{ [key: string]: JsonValue }> {
  return (await tool.execute(args, toolCall(options))) as { [key: string]: JsonValue };
}
