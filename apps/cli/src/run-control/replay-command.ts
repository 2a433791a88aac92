import { ReplayRunResponseSchema } from "@forge/protocol/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import { replayLines } from "./replay-lines.ts";

export interface ReplayOptions extends ServerOptions {
  readonly verifyState?: boolean;
}

/** `forge replay`: goes through a run's history again, and calls nothing. The exit code is 1 where the history is not what follows from itself. */
export async function replayCommand(context: Context, runId: string, options: ReplayOptions): Promise<number> {
  const { terminal } = context;
  checkId(runId);
  const verifyState = options.verifyState === true;
  const { link } = await openExisting(context, options, { reads: true });
  try {
    const replay = await link.call((client) => client.workflow.replayRun({ runId, verifyState }));
    if (options.json === true) terminal.print(messageLine(ReplayRunResponseSchema, replay));
    else for (const line of replayLines(replay, { isVerified: verifyState, style: terminal.style, columns: terminal.columns() })) terminal.print(line);
    return replay.mismatches.length === 0 ? EXIT.OK : EXIT.FAILED;
  } finally {
    await link.close();
  }
}
