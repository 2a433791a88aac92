import { ROLES } from "@forge/protocol/role-names";
import { type Command, Option } from "commander";
import type { Action } from "../action.ts";
import { collect, parseLifetime } from "../arguments/parsers.ts";
import { urlOption } from "../arguments/remote-options.ts";

type AddCommand = (usage: string, description: string, action: Action, parent: Command) => Command;

/** `forge token`: who else may call. */
export function addTokenCommands(program: Command, add: AddCommand): void {
  const token = program.command("token").description("grant, list and revoke tokens; see its own help").exitOverride();

  add(
    "add <name>",
    "make a token, and print it once",
    async (ctx, [name], options) => {
      const { addTokenCommand } = await import("./token-commands.ts");
      return addTokenCommand(ctx, name as string, options);
    },
    token,
  )
    .addOption(urlOption())
    .addOption(new Option("--role <role>", "what it may do").choices(ROLES).makeOptionMandatory())
    .option("--namespace <name>", "a namespace that it grants, the first is its default; may be repeated (default: FORGE_NAMESPACE, else default)", collect)
    .option("--queue <name>", "of a worker: a queue that it may serve; may be repeated (default: all)", collect)
    .option("--expires <duration>", "until when it works, for example 30d (default: always)", parseLifetime)
    .option("--quiet", "print the token and nothing else");

  add(
    "list",
    "list tokens, by name",
    async (ctx, _, options) => {
      const { listTokensCommand } = await import("./token-commands.ts");
      return listTokensCommand(ctx, options);
    },
    token,
  ).addOption(urlOption());

  add(
    "revoke <name>",
    "withdraw a token; calls with it are refused within 5 seconds",
    async (ctx, [name], options) => {
      const { revokeTokenCommand } = await import("./token-commands.ts");
      return revokeTokenCommand(ctx, name as string, options);
    },
    token,
  ).addOption(urlOption());
}
