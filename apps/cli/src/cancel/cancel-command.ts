import { commandHeader } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { TurnStatus } from "@forge/protocol/session";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { checkId, type FoundStream, findStream } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { onSignals } from "../signals.ts";

const ENDS: ReadonlySet<string> = new Set([
  "run.completed",
  "run.failed",
  "run.cancelled",
  "turn.completed",
  "turn.failed",
  "turn.cancelled",
  "turn.abandoned",
]);
const OVER: ReadonlySet<TurnStatus> = new Set([TurnStatus.COMPLETED, TurnStatus.FAILED, TurnStatus.CANCELLED, TurnStatus.ABANDONED]);

/** `forge cancel`: asks a run, or a session's active turn, to stop, and waits until it has. */
export async function cancelCommand(context: Context, id: string, options: ServerOptions): Promise<number> {
  const { terminal } = context;
  checkId(id);
  const { link } = await openExisting(context, options, { reads: false });
  const leave = new AbortController();
  const release = onSignals({ SIGINT: () => leave.abort(), SIGTERM: () => leave.abort() });
  try {
    const found = await findStream(link, id);
    const seq = await cancel(link, found);
    const followed = link.follow({ streams: [{ stream: { kind: found.kind, id }, afterSeq: Number(seq) - 1 }], signal: leave.signal });
    for await (const each of followed) {
      if (each.kind !== "event" || !ENDS.has(each.event.kind)) continue;
      if (options.json === true) terminal.print(JSON.stringify({ kind: each.event.kind, seq: String(each.event.seq) }));
      else terminal.print(each.event.kind.endsWith("cancelled") ? "Cancelled." : `It had ended before: ${each.event.kind}.`);
      return EXIT.OK;
    }
    terminal.note("It was asked to stop and has not stopped yet.");
    return EXIT.CANCELLED;
  } finally {
    release();
    await link.close();
  }
}

async function cancel(link: ProjectLink, found: FoundStream): Promise<bigint> {
  const header = commandHeader();
  if (found.kind === StreamKind.RUN) {
    const { runId } = found.run;
    return (await link.call((client) => client.workflow.cancelRun({ header, runId }))).seq;
  }
  const { sessionId, turn } = found.session;
  if (turn === undefined || OVER.has(turn.status)) {
    throw new ForgeError(ErrorCode.CONFLICT, `session ${sessionId} has no active turn to cancel`, { reason: "TURN_NOT_ACTIVE", relatedIds: [sessionId] });
  }
  const { turnId } = turn;
  return (await link.call((client) => client.session.cancelTurn({ header, sessionId, turnId }))).seq;
}
