import type { ToolSpec } from "./gen/forge/tool/v1/tool_pb.ts";

/**
 * What a decision about a tool is bound to, as text whose SHA-256 is `tool_digest`: a tool whose name, description, schema, risk or source changed is another
 * tool. Control planes and workers compute the same.
 */
export function toolIdentity(tool: ToolSpec): string {
  const facts: unknown[] = [tool.name, tool.description, tool.inputSchemaJson, tool.risk];
  // Where nothing else serves it, the identity is as it was before there were sources.
  if (tool.sourceDigest !== "") facts.push(tool.sourceDigest);
  return JSON.stringify(facts);
}
