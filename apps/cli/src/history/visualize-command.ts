import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { runPage } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { asciiLines, timelineLines } from "./ascii-lines.ts";
import { loadRun } from "./load-run.ts";

export interface VisualizeOptions extends ServerOptions {
  readonly ascii?: boolean;
  readonly timeline?: boolean;
  readonly output?: string;
}

/** `forge visualize`: a run as a picture: in the terminal, or as one HTML file. */
export async function visualizeCommand(context: Context, runId: string, options: VisualizeOptions): Promise<number> {
  const { terminal, directory } = context;
  if (options.ascii === true || options.timeline === true) {
    const { run } = await loadRun(context, runId, { ...options, values: false });
    const lines = (options.ascii === true ? asciiLines : timelineLines)(run, terminal.style, terminal.columns());
    for (const line of lines) terminal.print(line);
    return EXIT.OK;
  }
  const { run, read } = await loadRun(context, runId, { ...options, values: true });
  const file = path.resolve(directory, options.output ?? path.join(".runs", runId, "visualization.html"));
  await mkdir(path.dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, runPage(run, read, Date.now()));
  await rename(fresh, file);
  if (options.json === true) terminal.print(JSON.stringify({ run_id: run.runId, file }));
  else terminal.print(`${terminal.style.bold("Wrote")} ${path.relative(directory, file)}`);
  return EXIT.OK;
}
