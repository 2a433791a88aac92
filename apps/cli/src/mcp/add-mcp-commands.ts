import type { Command } from "commander";
import type { Action } from "../action.ts";

type AddCommand = (usage: string, description: string, action: Action, parent?: Command) => Command;

/** `forge mcp`: the MCP servers of a workspace. */
export function addMcpCommands(program: Command, local: AddCommand): void {
  const mcp = program.command("mcp").description("list the MCP servers of the workspace, log in to one or out of it; see its own help").exitOverride();
  local(
    "list",
    "list the MCP servers that .mcp.json names",
    async (ctx, _, options) => {
      const { listMcpCommand } = await import("./mcp-commands.ts");
      return listMcpCommand(ctx, options);
    },
    mcp,
  );
  local(
    "login <server>",
    "log in to a server in your browser",
    async (ctx, [name], options) => {
      const { loginMcpCommand } = await import("./mcp-commands.ts");
      return loginMcpCommand(ctx, name as string, options);
    },
    mcp,
  );
  local(
    "logout <server>",
    "forget a login",
    async (ctx, [name], options) => {
      const { logoutMcpCommand } = await import("./mcp-commands.ts");
      return logoutMcpCommand(ctx, name as string, options);
    },
    mcp,
  );
}
