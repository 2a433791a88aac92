import { RiskLevel } from "@forge/protocol/tool";
import type { ToolDefinition } from "./tool-definition.ts";

/** Returns its message; for examples, and to see that tools work at all. */
export const echoTool: ToolDefinition<{ message: string }> = {
  name: "tools.echo",
  description: "Returns the message that it is given.",
  inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"], additionalProperties: false },
  idempotent: true,
  risk: RiskLevel.READ,
  timeoutMs: 10_000,
  execute: async ({ message }) => ({ message }),
};
