import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { RewindSessionResponseSchema, UndoChangesResponseSchema } from "@forge/protocol/session";
import { headerOf } from "../arguments/header-of.ts";
import { Conversation } from "../chat/conversation.ts";
import { SessionLines } from "../chat/session-lines.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { inSession, type SessionOptions, type TurnOptions } from "./in-session.ts";

/** So long a worker that is to take back files is waited for. */
const UNDO_MS_MAX = 120_000;

/** `forge session undo`: takes back changes of files, and tells what came of it. */
export function undoCommand(context: Context, id: string, changeIds: readonly string[], options: TurnOptions): Promise<number> {
  return inSession(context, id, options, async (link) => {
    const header = headerOf(options);
    const request = { header, sessionId: id, changeIds: [...changeIds], turnId: options.turn ?? "" };
    const answer = await link.call((client) => client.session.undoChanges(request));
    return { schema: UndoChangesResponseSchema, answer, ...(options.json === true ? { said: "" } : await awaitUndo(context, link, id, answer.undoId)) };
  });
}

export interface RewindOptions extends SessionOptions {
  readonly seq?: number;
  readonly message?: number;
  readonly keepFiles?: boolean;
}

/** `forge session rewind`: goes back to where the session stood. */
export function rewindCommand(context: Context, id: string, options: RewindOptions): Promise<number> {
  return inSession(context, id, options, async (link) => {
    const header = headerOf(options);
    const throughSeq = options.seq === undefined ? await seqBefore(link, id, options.message) : BigInt(options.seq);
    const answer = await link.call((client) => client.session.rewindSession({ header, sessionId: id, throughSeq, keepFiles: options.keepFiles === true }));
    if (answer.undoId === "") return { schema: RewindSessionResponseSchema, answer, said: "Rewound. The events stay." };
    return { schema: RewindSessionResponseSchema, answer, ...(options.json === true ? { said: "" } : await awaitUndo(context, link, id, answer.undoId)) };
  });
}

/** The last seq before a person's message. */
async function seqBefore(link: ProjectLink, sessionId: string, number: number | undefined): Promise<bigint> {
  if (number === undefined) throw ForgeError.validation("through_seq", "where to? Name the message with --message, or the last event that stays with --seq");
  const conversation = new Conversation({ link, sessionId, excludeKinds: ["turn.output_delta", "tool.output_delta"], onEvent: () => undefined });
  try {
    await conversation.until(({ isCaughtUp }) => isCaughtUp);
    const { messages } = conversation.state;
    const message = messages[number - 1];
    if (message !== undefined) return message.throughSeq;
    throw new ForgeError(ErrorCode.NOT_FOUND, `session ${sessionId} has ${messages.length} messages, and no ${number}th one`, { reason: "MESSAGE_NOT_FOUND" });
  } finally {
    await conversation.leave();
  }
}

/** Waits until an undo has ended; what came of it, in words, and as an exit code: what could not be taken back is a conflict. */
async function awaitUndo(
  { terminal }: Context,
  link: ProjectLink,
  sessionId: string,
  undoId: string,
): Promise<{ readonly said: string; readonly code: number }> {
  const lines = new SessionLines(terminal.style);
  const said: string[] = [];
  let code: number = EXIT.OK;
  const conversation = new Conversation({
    link,
    sessionId,
    excludeKinds: ["turn.output_delta", "tool.output_delta"],
    onEvent: (event) => {
      const { payload } = event;
      const isIts =
        (payload.case === "workspaceChangeUndone" || payload.case === "workspaceUndoFailed" || payload.case === "sessionRewound") &&
        payload.value.undoId === undoId;
      if (!isIts) return;
      said.push(...(lines.lines(event) ?? []));
      const isRefused = payload.case === "workspaceUndoFailed" || (payload.case === "workspaceChangeUndone" && payload.value.refused.length > 0);
      if (isRefused) code = EXIT.CONFLICT;
    },
  });
  try {
    await conversation.until((state) => state.isDone(undoId), AbortSignal.timeout(UNDO_MS_MAX));
    if (!conversation.state.isDone(undoId))
      throw new ForgeError(
        ErrorCode.DEADLINE_EXCEEDED,
        `no worker has taken the files back in ${UNDO_MS_MAX / 1000} s: forge events ${sessionId} tells when one has`,
        {
          reason: "UNDO_PENDING",
        },
      );
    return { said: said.join("\n"), code };
  } finally {
    await conversation.leave();
  }
}
