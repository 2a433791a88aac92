import { createInterface } from "node:readline";
import { EventSchema } from "@forge/protocol/event";
import type { Session } from "@forge/protocol/session";
import type { TurnContext } from "../agent/turn-context.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageJson } from "../output/message-json.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { onSignals } from "../signals.ts";
import { ChatView } from "./chat-view.ts";
import { Conversation } from "./conversation.ts";

/** What a call and its result are cut at: a line that a person still reads. */
const COLUMNS = 240;
const DELTAS = ["turn.output_delta", "tool.output_delta"];

export interface ReadTurnsOptions {
  readonly link: ProjectLink;
  readonly session: Session;
  readonly hint: string;
  readonly turns: TurnContext;
}

/**
 * A conversation with whatever writes to standard input: each line is a turn, one after the other, and the end of the input waits for the last. SIGINT cancels
 * the active turn, a second one leaves; a hangup or SIGTERM detaches.
 */
export async function readTurns(
  { terminal }: Context,
  { link, session, hint, turns }: ReadTurnsOptions,
  { json }: { readonly json: boolean },
): Promise<number> {
  const { sessionId } = session;
  const view = new ChatView({ style: terminal.style, columns: () => COLUMNS });
  const attach = `npx forge chat ${sessionId}${hint}`;
  if (!json) terminal.print(`Session ${sessionId}\nAttach again: ${attach}`);
  const conversation: Conversation = new Conversation({
    link,
    sessionId,
    excludeKinds: DELTAS,
    onEvent: (event) => {
      if (json) return terminal.print(JSON.stringify({ event: messageJson(EventSchema, event) }));
      terminal.out(view.apply(event));
      if (event.payload.case === "toolApprovalRequired" && conversation.state.isCaughtUp) {
        terminal.print(`  waits for an answer: npx forge approve ${sessionId} ${event.payload.value.approvalId}${hint}   (or --deny)`);
      }
      if (event.payload.case === "turnInputRequested" && conversation.state.isCaughtUp) {
        terminal.print(`  waits for an answer: npx forge session answer ${sessionId} "..."${hint}`);
      }
    },
  });
  const input = createInterface({ input: process.stdin, terminal: false });
  let left: number | undefined;
  const leave = (code: number): void => {
    left = code;
    input.close();
    void conversation.leave();
  };
  let interrupts = 0;
  const release = onSignals({
    SIGINT: () => {
      interrupts++;
      if (conversation.state.activeTurnId === undefined || interrupts > 1) return leave(EXIT.CANCELLED);
      conversation.cancel().catch((error: unknown) => terminal.note(error instanceof Error ? error.message : String(error)));
    },
    SIGTERM: () => leave(EXIT.OK),
    SIGHUP: () => leave(EXIT.OK),
  });
  try {
    const isIdle = (): boolean => conversation.state.isCaughtUp && conversation.state.activeTurnId === undefined;
    for await (const line of input) {
      if (line.trim() === "") continue;
      do await conversation.until(isIdle);
      while (left === undefined && !(await conversation.say(await turns.input(line))));
      await conversation.until(isIdle);
      interrupts = 0;
      if (left !== undefined) break;
    }
    await conversation.until(isIdle);
    if (left !== undefined) return left;
    if (conversation.state.lastEnd === "turn.cancelled") return EXIT.CANCELLED;
    return conversation.state.lastEnd === "turn.failed" ? EXIT.FAILED : EXIT.OK;
  } finally {
    release();
    input.close();
    await conversation.leave();
  }
}
