import { ContinueRunResponseSchema, PauseRunResponseSchema } from "@forge/protocol/workflow";
import type { CommandOptions } from "../arguments/command-options.ts";
import { headerOf } from "../arguments/header-of.ts";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";

export type PauseOptions = ServerOptions & CommandOptions;

/** `forge pause`: no step of a run begins until it is continued. */
export async function pauseCommand(context: Context, runId: string, options: PauseOptions): Promise<number> {
  checkId(runId);
  const { link, hint } = await openExisting(context, options, { reads: false, code: "all" });
  try {
    const header = headerOf(options);
    const answer = await link.call((client) => client.workflow.pauseRun({ header, runId }));
    const said = `Paused: what is under way goes on, and no step begins before \`npx forge continue ${runId}${hint}\`.`;
    context.terminal.print(options.json === true ? messageLine(PauseRunResponseSchema, answer) : said);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

/** `forge continue`: ends a pause. */
export async function continueCommand(context: Context, runId: string, options: PauseOptions): Promise<number> {
  checkId(runId);
  const { link } = await openExisting(context, options, { reads: false, code: "all" });
  try {
    const header = headerOf(options);
    const answer = await link.call((client) => client.workflow.continueRun({ header, runId }));
    context.terminal.print(options.json === true ? messageLine(ContinueRunResponseSchema, answer) : "It goes on.");
    return EXIT.OK;
  } finally {
    await link.close();
  }
}
