import { StreamKind } from "@forge/protocol/common";
import { SessionSchema } from "@forge/protocol/session";
import { stateHistory } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { loadRun } from "../history/load-run.ts";
import { stateHistoryLines } from "../history/state-history-lines.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId, findStream } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import { printStepRecords } from "./print-step-records.ts";
import { runLines, stepsLines } from "./run-lines.ts";
import { runRecord } from "./run-record.ts";
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
  const { link, hint } = await openExisting(context, options, { reads: true });
  try {
    const found = await findStream(link, id);
    if (options.json === true) {
      if (found.kind === StreamKind.SESSION) terminal.print(messageLine(SessionSchema, found.session));
      else if (options.steps === true) await printStepRecords(terminal, link, found.run);
      else terminal.print(JSON.stringify(runRecord(found.run)));
      return EXIT.OK;
    }
    const columns = terminal.columns();
    const lines =
      found.kind === StreamKind.RUN
        ? (options.steps === true ? stepsLines : runLines)(found.run, { style: terminal.style, columns, hint })
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
