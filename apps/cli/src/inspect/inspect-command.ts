import { StreamKind } from "@forge/protocol/common";
import { SessionSchema } from "@forge/protocol/session";
import { RunSchema, StepExecutionSchema } from "@forge/protocol/workflow";
import { stateHistory } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { loadRun } from "../history/load-run.ts";
import { stateHistoryLines } from "../history/state-history-lines.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId, findStream } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import { runLines, stepsLines } from "./run-lines.ts";
import { sessionLines } from "./session-lines.ts";

export interface InspectOptions extends ServerOptions {
  readonly steps?: boolean;
  readonly stateHistory?: boolean;
}

/** `forge inspect`: what is true of a run or session now. */
export async function inspectCommand(context: Context, id: string, options: InspectOptions): Promise<number> {
  const { terminal } = context;
  if (options.stateHistory === true) return await printStateHistory(context, id, options);
  checkId(id);
  const { link } = await openExisting(context, options, { reads: true });
  try {
    const found = await findStream(link, id);
    if (options.json === true) {
      if (options.steps === true && found.kind === StreamKind.RUN) for (const step of found.run.steps) terminal.print(messageLine(StepExecutionSchema, step));
      else terminal.print(found.kind === StreamKind.RUN ? messageLine(RunSchema, found.run) : messageLine(SessionSchema, found.session));
      return EXIT.OK;
    }
    const columns = terminal.columns();
    const lines =
      found.kind === StreamKind.RUN
        ? (options.steps === true ? stepsLines : runLines)(found.run, terminal.style, columns)
        : sessionLines(found.session, terminal.style, columns);
    for (const line of lines) terminal.print(line);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

async function printStateHistory(context: Context, id: string, options: InspectOptions): Promise<number> {
  const { terminal } = context;
  const { run, read } = await loadRun(context, id, { ...options, values: true });
  const versions = stateHistory(run, read);
  if (options.json === true) {
    for (const { version, step, changes } of versions)
      terminal.print(JSON.stringify({ version, step_id: step?.stepId, execution_index: step?.executionIndex, changes }));
    return EXIT.OK;
  }
  for (const line of stateHistoryLines(versions, terminal.style, terminal.columns())) terminal.print(line);
  return EXIT.OK;
}
