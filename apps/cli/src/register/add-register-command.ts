import { type Command, Option } from "commander";
import type { Action } from "../action.ts";

type AddCommand = (usage: string, description: string, action: Action) => Command;

/** `forge register`. */
export function addRegisterCommand(command: AddCommand): void {
  command("register <workflow>", "keep a workflow as it is now, for programs to start runs of it by its name", async (ctx, [reference], options) => {
    const { registerCommand } = await import("./register-command.ts");
    return registerCommand(ctx, reference as string, options);
  }).addOption(new Option("--foreground", "serve the project in this process, and end that with the command; the default where CI is set"));
}
