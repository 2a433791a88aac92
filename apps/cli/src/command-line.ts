import { CommanderError } from "commander";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-code.ts";
import { createProgram } from "./program.ts";

/** Runs one command; its exit code. */
export async function runCommandLine(words: readonly string[], context: Context): Promise<number> {
  // Who calls `rpc` is a program.
  const isJson = words.includes("--json") || words[0] === "rpc";
  let code: number = EXIT.OK;
  const program = createProgram(context, (exit) => {
    code = exit;
  });
  // Machines get what is wrong with their words as JSON as well.
  if (isJson)
    for (const each of [program, ...program.commands.flatMap((command) => [command, ...command.commands])]) each.configureOutput({ writeErr: () => undefined });
  try {
    await program.parseAsync(words, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && (error.exitCode === 0 || !isJson)) return error.exitCode === 0 ? EXIT.OK : EXIT.USAGE;
    // Help and what people mistype need none of this.
    const { errorJson, errorLines, exitCodeOf, isBug, toForgeError } = await import("./output/error-report.ts");
    const forgeError = toForgeError(error);
    const lines = isJson ? [errorJson(forgeError.detail)] : errorLines(forgeError.detail, context.terminal.errorStyle);
    for (const line of lines) context.terminal.note(line);
    if (!isJson && isBug(forgeError) && context.environment.FORGE_DEBUG && error instanceof Error) context.terminal.note(error.stack ?? "");
    return exitCodeOf(forgeError.code);
  }
}
