import { commandHeader } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { Decision } from "@forge/protocol/tool";
import type { ProjectLink } from "../server/project-link.ts";
import { ChatState, type OpenApproval } from "./chat-state.ts";
import type { ChatLine } from "./slash-command.ts";

export interface ConversationOptions {
  readonly link: ProjectLink;
  readonly sessionId: string;
  /** Kinds that nobody wants to see. */
  readonly excludeKinds: readonly string[];
  /** Every event, in order. `isOwn` where this conversation's own command caused it. */
  readonly onEvent: (event: Event, isOwn: boolean) => void;
}

/** A session that is followed, and the commands that a conversation sends to it. */
export class Conversation {
  readonly state = new ChatState();
  readonly sessionId: string;
  readonly #options: ConversationOptions;
  readonly #leave = new AbortController();
  readonly #ownCommands = new Set<string>();
  readonly #following: Promise<void>;
  #failure: { readonly error: unknown } | undefined;
  readonly #failed = Promise.withResolvers<never>();

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.sessionId = options.sessionId;
    this.#failed.promise.catch(() => undefined);
    this.#following = this.#follow();
  }

  /** Resolves when a condition on the state holds, or when it is left. Rejects when the session can't be followed any more. */
  async until(condition: (state: ChatState) => boolean, signal: AbortSignal = this.#leave.signal): Promise<void> {
    const aborted = Promise.withResolvers<void>();
    const abort = (): void => aborted.resolve();
    signal.addEventListener("abort", abort);
    this.#leave.signal.addEventListener("abort", abort);
    try {
      while (!condition(this.state) && !signal.aborted && !this.hasLeft) {
        if (this.#failure !== undefined) throw this.#failure.error;
        await Promise.race([this.state.changed(), aborted.promise, this.#failed.promise]);
      }
    } finally {
      signal.removeEventListener("abort", abort);
      this.#leave.signal.removeEventListener("abort", abort);
    }
  }

  get hasLeft(): boolean {
    return this.#leave.signal.aborted;
  }

  /** Starts a turn; false where another client was faster. Errors: validation; conflict, SESSION_CLOSED. */
  async say(text: string): Promise<boolean> {
    const header = commandHeader();
    this.#ownCommands.add(header.commandId as string);
    const { sessionId } = this;
    try {
      const { turnId } = await this.#options.link.call((client) =>
        client.session.startTurn({ header, sessionId, input: [{ kind: { case: "text", value: { text } } }] }),
      );
      // Its events may come before or after this answer.
      await this.until((state) => state.activeTurnId === turnId || this.#seenTurns.has(turnId));
      return true;
    } catch (error) {
      if (error instanceof ForgeError && error.reason === "TURN_ACTIVE") return false;
      throw error;
    }
  }

  /** What a person says while a turn is active: the answer to the model's oldest question, else something for it to read. False where the turn has just ended. */
  async interject(text: string): Promise<boolean> {
    const { activeTurnId: turnId, inputId } = this.state;
    if (turnId === undefined) return false;
    const header = commandHeader();
    this.#ownCommands.add(header.commandId as string);
    const { sessionId } = this;
    try {
      if (inputId !== undefined) await this.#options.link.call((client) => client.session.provideInput({ header, sessionId, turnId, inputId, text }));
      else
        await this.#options.link.call((client) =>
          client.session.steerTurn({ header, sessionId, turnId, input: [{ kind: { case: "text", value: { text } } }] }),
        );
      return true;
    } catch (error) {
      if (error instanceof ForgeError && error.code === ErrorCode.CONFLICT) return false;
      throw error;
    }
  }

  /** Does what a line that is a command says, and tells what there is to tell. Errors: conflict, where it does not fit; validation. */
  async perform(line: Exclude<ChatLine, { readonly kind: "say" }>): Promise<string> {
    const header = commandHeader();
    const { sessionId } = this;
    const { link } = this.#options;
    const turnId = this.state.activeTurnId ?? "";
    switch (line.kind) {
      case "wrong":
        return line.why;
      case "pause":
      case "continue":
        if (turnId === "") return "No turn is active.";
        if (line.kind === "pause") await link.call((client) => client.session.pauseTurn({ header, sessionId, turnId }));
        else await link.call((client) => client.session.continueTurn({ header, sessionId, turnId }));
        return "";
      case "compact":
        await link.call((client) => client.session.compactSession({ header, sessionId, summary: line.summary }));
        return "";
      case "fork": {
        const fork = await link.call((client) => client.session.forkSession({ header, sessionId, throughSeq: line.seq }));
        return `The fork: npx forge chat ${fork.sessionId}`;
      }
      default:
        return line satisfies never;
    }
  }

  /** Asks the active turn to stop. One that has just ended needs no asking. */
  async cancel(): Promise<void> {
    const turnId = this.state.activeTurnId;
    if (turnId === undefined) return;
    const header = commandHeader();
    const { sessionId } = this;
    await passConflict(this.#options.link.call((client) => client.session.cancelTurn({ header, sessionId, turnId })));
  }

  /** Answers a question. Another client's answer, if it was faster, holds. */
  async answer({ approvalId }: OpenApproval, isAllowed: boolean, comment: string): Promise<void> {
    const header = commandHeader();
    const stream = { kind: StreamKind.SESSION, id: this.sessionId };
    const decision = isAllowed ? Decision.ALLOW : Decision.DENY;
    await passConflict(this.#options.link.call((client) => client.approval.resolveApproval({ header, stream, approvalId, decision, comment })));
    await this.until((state) => !state.isOpen(approvalId));
  }

  /** Follows no longer; what runs goes on. */
  async leave(): Promise<void> {
    this.#leave.abort();
    await this.#following;
  }

  readonly #seenTurns = new Set<string>();

  async #follow(): Promise<void> {
    const { link, sessionId, excludeKinds, onEvent } = this.#options;
    try {
      const streams = [{ stream: { kind: StreamKind.SESSION, id: sessionId } }];
      for await (const followed of link.follow({ streams, excludeKinds, signal: this.#leave.signal })) {
        if (followed.kind === "caughtUp") this.state.caughtUp();
        if (followed.kind !== "event") continue;
        const { event } = followed;
        if (event.kind === "turn.started") this.#seenTurns.add(event.turnId);
        onEvent(event, this.#ownCommands.has(event.commandId));
        this.state.apply(event);
      }
    } catch (error) {
      this.#failure = { error };
      this.#failed.reject(error);
    }
  }
}

async function passConflict(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof ForgeError && error.code === ErrorCode.CONFLICT)) throw error;
  }
}
