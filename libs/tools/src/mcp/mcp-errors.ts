import { ForgeError, type ForgeErrorOptions } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

const MESSAGE_MAX = 4096;

/** An error of a call to an MCP server. */
export function mcpError(code: ErrorCode, reason: string, message: string, options: Pick<ForgeErrorOptions, "cause" | "retryable"> = {}): ForgeError {
  const short = message.length <= MESSAGE_MAX ? message : `${message.slice(0, MESSAGE_MAX - 1)}…`;
  return new ForgeError(code, short, { ...options, reason, origin: "tool" });
}

/** The server's tool is not what it was when people and models were told of it. */
export function toolChanged(server: string, tool: string, change: string): ForgeError {
  return mcpError(
    ErrorCode.CONFLICT,
    "TOOL_CHANGED",
    `the tool ${tool} of the MCP server ${server} has changed since it was offered, and was not called. What changed: ${change}. The next turn is offered it as it is now; what was allowed of it before no longer holds.`,
  );
}
