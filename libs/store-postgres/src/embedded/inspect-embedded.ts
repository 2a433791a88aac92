import { locateBinaries } from "./binaries.ts";
import { unsupported } from "./embedded-error.ts";
import { chooseLauncher, type Launcher } from "./launcher.ts";
import { run } from "./run.ts";

/** How the embedded server would be started here. */
export interface EmbeddedPrograms {
  /** For people, for example "18.1". */
  readonly version: string;
  readonly launcher: Launcher["kind"];
}

/** Whether the embedded server's programs are there and run, without any data. Errors: unsupported, saying what is missing. */
export async function inspectEmbedded(signal: AbortSignal): Promise<EmbeddedPrograms> {
  const { postgres } = await locateBinaries();
  const launcher = await chooseLauncher();
  const { code, output } = await run([...launcher.prefix("KILL"), postgres, "--version"], { signal });
  if (code !== 0)
    throw unsupported(`PostgreSQL's program ${postgres} does not run here (${output || `exit ${code}`}). Install node_modules anew with \`npm ci\`.`);
  return { version: /[\d.]+/.exec(output)?.[0] ?? output, launcher: launcher.kind };
}
