import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type ArchivedRun, ArchivedRunSchema, type ArchiveRunsResponse } from "@forge/protocol/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { formatBytes } from "../output/format-bytes.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";

export interface ArchiveOptions extends ServerOptions {
  /** Milliseconds since a run's end. */
  readonly olderThan: number;
  readonly dryRun?: boolean;
}

/** Few enough that each answer comes soon. */
const PAGE = 50;

/** `forge archive`: moves ended runs out of the way; one, or all that ended long enough ago. */
export async function archiveCommand(context: Context, runId: string | undefined, options: ArchiveOptions): Promise<number> {
  const { terminal } = context;
  if (runId !== undefined) checkId(runId);
  const isDry = options.dryRun === true;
  const { link } = await openExisting(context, options, { reads: isDry });
  const chosen = runId === undefined ? { olderThan: durationFromMs(options.olderThan) } : { runId };
  let count = 0;
  let bytes = 0;
  try {
    for (let pageToken = ""; ; ) {
      const request = { ...chosen, dryRun: isDry, pageSize: PAGE, pageToken };
      const page: ArchiveRunsResponse = await link.call((client) => client.workflow.archiveRuns(request));
      for (const run of page.runs) terminal.print(options.json === true ? messageLine(ArchivedRunSchema, run) : lineOf(run, isDry));
      count += page.runs.length;
      bytes += page.runs.reduce((sum, run) => sum + Number(run.byteCount), 0);
      if (page.nextPageToken === "") break;
      pageToken = page.nextPageToken;
    }
  } finally {
    await link.close();
  }
  if (options.json !== true) terminal.note(summary(count, bytes, isDry));
  return EXIT.OK;
}

function lineOf(run: ArchivedRun, isDry: boolean): string {
  return isDry ? run.runId : `${run.runId}  ${run.eventCount} events, ${formatBytes(Number(run.byteCount))}`;
}

function summary(count: number, bytes: number, isDry: boolean): string {
  if (count === 0) return "nothing to archive";
  const runs = count === 1 ? "1 run" : `${count} runs`;
  return isDry ? `${runs} would be archived` : `archived ${runs}, ${formatBytes(bytes)}`;
}
