import { ForgeError } from "@forge/protocol";
import { diffJson, stateAt, stateHistory } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { changeLines } from "./change-lines.ts";
import { loadRun } from "./load-run.ts";

export interface StateDiffOptions extends ServerOptions {
  readonly from?: number;
  readonly to?: number;
}

/** `forge state-diff`: what changed between two versions of a run's state, by path. */
export async function stateDiffCommand(context: Context, runId: string, options: StateDiffOptions): Promise<number> {
  const { terminal } = context;
  const { run, read } = await loadRun(context, runId, { ...options, values: true });
  const newest = stateHistory(run, read).length - 1;
  const from = checkVersion("from", options.from ?? 0, newest);
  const to = checkVersion("to", options.to ?? newest, newest);
  const changes = diffJson(stateAt(run, from, read), stateAt(run, to, read), "");
  if (options.json === true) {
    terminal.print(JSON.stringify({ run_id: run.runId, from, to, changes }));
    return EXIT.OK;
  }
  terminal.print(terminal.style.dim(`version ${from} → ${to} of ${newest}`));
  for (const line of changeLines(changes, terminal.style, terminal.columns())) terminal.print(line);
  if (changes.length === 0) terminal.print("nothing changed");
  return EXIT.OK;
}

function checkVersion(name: string, version: number, newest: number): number {
  if (version <= newest) return version;
  throw ForgeError.validation(name, `--${name} ${version}: this run's state has the versions 0 to ${newest}`);
}
