import type { Command } from "commander";
import type { Action } from "../action.ts";

type AddCommand = (usage: string, description: string, action: Action) => Command;

/** Commands that carry a project from one place to another. They need no server. */
export function addBundleCommands(local: AddCommand): void {
  local("export [file]", "pack the project's files into one .tar.gz, without secrets and without data", async (ctx, [file], options) => {
    const { exportCommand } = await import("./export-command.ts");
    return exportCommand(ctx, file, options);
  }).option("--force", "replace a file that is there");

  local("import <bundle> [directory]", "unpack an exported project into a directory, wholly or not at all", async (ctx, [bundle, directory], options) => {
    const { importCommand } = await import("./import-command.ts");
    return importCommand(ctx, bundle as string, directory, options);
  }).option("--force", "replace files that are there");
}
