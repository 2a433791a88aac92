import { createInterface } from "node:readline";
import { ForgeError } from "@forge/protocol";
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
import { performCommand } from "./perform-command.ts";
import { parseChatLine } from "./slash-command.ts";

/** What a call and its result are cut at: a line that a person still reads. */
const COLUMNS = 240;
const DELTAS = ["turn.output_delta", "tool.output_delta"];

export interface ReadTurnsOptions {
  readonly link: ProjectLink;
  readonly session: Session;
  readonly hint: string;
  readonly turns: TurnContext;
  /** Throws where the workspace is not one in which nothing needs to be asked. */
  readonly checkBypass: () => Promise<void>;
}

/**
 * A conversation with whatever writes to standard input: each line is a turn or a command, one after the other, and the end of the input waits for the last. SIGINT
 * cancels the active turn, a second one leaves; a hangup or SIGTERM detaches. Errors: what a command rejects with, validation where there is no such command; nobody is there to say
 * it again, so no line after it is read.
 */
export async function readTurns(
  { terminal }: Context,
  { link, session, hint, turns, checkBypass }: ReadTurnsOptions,
  { json }: { readonly json: boolean },
): Promise<number> {
  const open = (sessionId: string): Conversation => {
    const view = new ChatView({ style: terminal.style, columns: () => COLUMNS });
    if (!json) terminal.print(`Session ${sessionId}\nAttach again: npx forge chat ${sessionId}${hint}`);
    const opened: Conversation = new Conversation({
      link,
      sessionId,
      excludeKinds: DELTAS,
      onEvent: (event) => {
        if (json) return terminal.print(JSON.stringify({ event: messageJson(EventSchema, event) }));
        terminal.out(view.apply(event));
        if (event.payload.case === "toolApprovalRequired" && opened.state.isCaughtUp) {
          terminal.print(`  waits for an answer: npx forge approve ${sessionId} ${event.payload.value.approvalId}${hint}   (or --deny)`);
        }
        if (event.payload.case === "turnInputRequested" && opened.state.isCaughtUp) {
          terminal.print(`  waits for an answer: npx forge session answer ${sessionId} "..."${hint}`);
        }
      },
    });
    return opened;
  };
  let conversation = open(session.sessionId);
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
    for await (const typed of input) {
      if (typed.trim() === "") continue;
      await conversation.until(isIdle);
      const line = parseChatLine(typed);
      if (line.kind === "wrong") throw ForgeError.validation("line", line.why);
      if (line.kind === "say") {
        while (left === undefined && !(await conversation.say(await turns.input(line.text)))) await conversation.until(isIdle);
      } else if (left === undefined) {
        const context = { link, conversation, turns, style: terminal.style, columns: () => COLUMNS, checkBypass };
        const { told, switchTo, leaves } = await performCommand(context, line);
        if (json && told.length > 0) terminal.print(JSON.stringify({ command: line.kind, told }));
        else for (const each of told) terminal.print(each);
        if (leaves === true) leave(EXIT.OK);
        if (switchTo !== undefined) {
          await conversation.leave();
          conversation = open(switchTo);
        }
      }
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
