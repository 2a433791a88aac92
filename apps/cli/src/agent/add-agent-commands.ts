import { type Command, Option } from "commander";
import type { Action } from "../action.ts";
import { collect, oneOf } from "../arguments/parsers.ts";
import { APPROVE_NAMES, type ApproveName } from "../exec/approve-names.ts";
import { addAgentOptions } from "./agent-options.ts";

type AddCommand = (usage: string, description: string, action: Action, parent?: Command) => Command;

export interface AgentCommands {
  /** Adds a command that talks to a server. */
  readonly command: AddCommand;
  /** Adds one about this machine. */
  readonly local: AddCommand;
  readonly foreground: () => Option;
}

/** Commands that talk to an agent in a workspace. */
export function addAgentCommands({ command, local, foreground }: AgentCommands): void {
  const inWorkspace = (made: Command): Command =>
    addAgentOptions(made)
      .option("--worktree [name]", "work in a git worktree of this repository, which is made where it is missing")
      .option("--trust", "trust the workspace as it is now: its tests, hooks, MCP servers, functions and tools may be run")
      .addOption(foreground());

  inWorkspace(
    command("chat [session]", "talk to an agent about the files here, in a new session or an old one", async (ctx, [session], options) => {
      const { chatCommand } = await import("../chat/chat-command.ts");
      return chatCommand(ctx, session, options);
    }),
  );

  inWorkspace(
    command("exec <prompt>", "let an agent do one thing without you: - reads what from standard input", async (ctx, [prompt], options) => {
      const { execCommand } = await import("../exec/exec-command.ts");
      return execCommand(ctx, prompt as string, options);
    }),
  )
    .option("--session <id>", "in this session, in place of a new one")
    .addOption(
      new Option(
        "--approve <categories>",
        "what it may do without asking, separated by commas: none, changes (files), execution (commands, network), evidence (tests), all (default: none)",
      ).argParser(parseApprove),
    )
    .option("--deny <tool>", "a tool, or a prefix and *, that it may not call, whatever is approved; may be repeated", collect)
    .option("--output-schema <file>", "JSON Schema that the answer must match")
    .option("--image <file>", "a picture or another file for the model; may be repeated", collect);

  local("trust", "let what the workspace brings run here: its tests, hooks, MCP servers, functions and tools", async (ctx, _, options) => {
    const { trustCommand } = await import("../trust/trust-command.ts");
    return trustCommand(ctx, options);
  })
    .addOption(new Option("--show", "only show what that is, and whether it is trusted").conflicts("revoke"))
    .option("--revoke", "trust it no more");
}

function parseApprove(text: string): ApproveName[] {
  return text.split(",").map((name) => oneOf(APPROVE_NAMES)(name) as ApproveName);
}
