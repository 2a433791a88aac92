import { runCommandLine } from "./command-line.ts";
import { endWithReader, processTerminal } from "./output/terminal.ts";

// The command, in this process.

endWithReader();
process.exitCode = await runCommandLine(process.argv.slice(2), { terminal: processTerminal(), environment: process.env, directory: process.cwd() });
