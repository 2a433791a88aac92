import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { CancelTurnResponseSchema, TurnStatus } from "@forge/protocol/session";
import { CancelRunResponseSchema } from "@forge/protocol/workflow";
import type { CommandOptions } from "../arguments/command-options.ts";
import { headerOf } from "../arguments/header-of.ts";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId, findStream } from "../server/find-stream.ts";
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

export interface CancelOptions extends ServerOptions, CommandOptions {
  /** Absent: the last one. */
  readonly turn?: string;
  /** Do not wait. */
  readonly detach?: boolean;
}

/** `forge cancel`: asks a run, or a session's active turn, to stop, and waits until it has. */
export async function cancelCommand(context: Context, id: string, options: CancelOptions): Promise<number> {
  const { terminal } = context;
  checkId(id);
  const { link } = await openExisting(context, options, { reads: false });
  const leave = new AbortController();
  const release = onSignals({ SIGINT: () => leave.abort(), SIGTERM: () => leave.abort() });
  try {
    const { kind, seq, json } = await cancel(link, id, options);
    if (options.detach === true) {
      terminal.print(options.json === true ? json : "It was asked to stop.");
      return EXIT.OK;
    }
    const followed = link.follow({ streams: [{ stream: { kind, id }, afterSeq: Number(seq) - 1 }], signal: leave.signal });
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

interface Asked {
  readonly kind: StreamKind;
  readonly seq: bigint;
  /** The answer. */
  readonly json: string;
}

async function cancel(link: ProjectLink, id: string, options: CancelOptions): Promise<Asked> {
  const header = headerOf(options);
  const cancelTurn = async (turnId: string): Promise<Asked> => {
    const answer = await link.call((client) => client.session.cancelTurn({ header, sessionId: id, turnId }));
    return { kind: StreamKind.SESSION, seq: answer.seq, json: messageLine(CancelTurnResponseSchema, answer) };
  };
  if (options.turn !== undefined) return cancelTurn(options.turn);
  const found = await findStream(link, id);
  if (found.kind === StreamKind.RUN) {
    const answer = await link.call((client) => client.workflow.cancelRun({ header, runId: id }));
    return { kind: found.kind, seq: answer.seq, json: messageLine(CancelRunResponseSchema, answer) };
  }
  const { turn } = found.session;
  if (turn === undefined || OVER.has(turn.status)) {
    throw new ForgeError(ErrorCode.CONFLICT, `session ${id} has no active turn to cancel`, { reason: "TURN_NOT_ACTIVE", relatedIds: [id] });
  }
  return cancelTurn(turn.turnId);
}
