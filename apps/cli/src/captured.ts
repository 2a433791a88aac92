import { runCommandLine } from "./command-line.ts";
import type { Context } from "./context.ts";
import { PLAIN } from "./output/style.ts";
import type { Terminal } from "./output/terminal.ts";

/** What a command wrote, and ended with. */
export interface Captured {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line inside another program, which is no terminal: what it writes is returned. Commands that read standard input read the program's. */
export async function runCaptured(words: readonly string[], where: Omit<Context, "terminal">): Promise<Captured> {
  let stdout = "";
  let stderr = "";
  const out = (text: string): void => {
    stdout += text;
  };
  const terminal: Terminal = {
    isLive: false,
    canAsk: false,
    style: PLAIN,
    errorStyle: PLAIN,
    columns: () => 80,
    out,
    print: (line = "") => out(`${line}\n`),
    note: (line) => {
      stderr += `${line}\n`;
    },
  };
  const code = await runCommandLine(words, { ...where, terminal });
  return { code, stdout, stderr };
}
