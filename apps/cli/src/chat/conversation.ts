import { setTimeout as sleep } from "node:timers/promises";
import { commandHeader } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import type { TurnInput } from "../agent/turn-context.ts";
import type { ApprovalAnswer } from "../approvals/approval-answer.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { ChatState } from "./chat-state.ts";
import type { OpenApproval } from "./open-calls.ts";

export interface ConversationOptions {
  readonly link: ProjectLink;
  readonly sessionId: string;
  /** Kinds that nobody wants to see. */
  readonly excludeKinds: readonly string[];
  /** Every event, in order. `isOwn` where this conversation's own command caused it. */
  readonly onEvent: (event: Event, isOwn: boolean) => void;
  /** Every event of a sub-agent that works for the active turn; absent: they are not told. */
  readonly onChildEvent?: (event: Event) => void;
}

/** The tool that stands for a sub-agent; its session has the call's id. */
const SUB_AGENT = /^agent\./;
/** A sub-agent's session is made a moment after its call. */
const CHILD_LOOK_MS = 200;

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
  async say(input: TurnInput): Promise<boolean> {
    const header = commandHeader();
    this.#ownCommands.add(header.commandId as string);
    const { sessionId } = this;
    try {
      const { turnId } = await this.#options.link.call((client) => client.session.startTurn({ header, sessionId, ...input }));
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
    const { activeTurnId: turnId, question } = this.state;
    if (turnId === undefined) return false;
    const header = commandHeader();
    this.#ownCommands.add(header.commandId as string);
    const { sessionId } = this;
    try {
      if (question !== undefined) {
        const { inputId, turnId: askedIn, childSessionId } = question;
        const request = { header, sessionId: childSessionId ?? sessionId, turnId: askedIn, inputId, text };
        await this.#options.link.call((client) => client.session.provideInput(request));
      } else
        await this.#options.link.call((client) =>
          client.session.steerTurn({ header, sessionId, turnId, input: [{ kind: { case: "text", value: { text } } }] }),
        );
      return true;
    } catch (error) {
      if (error instanceof ForgeError && error.code === ErrorCode.CONFLICT) return false;
      throw error;
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

  /** Answers a question. Another client's answer, if it was faster, holds. Errors: validation, of edited arguments. */
  async answer({ approvalId, childSessionId }: OpenApproval, answer: ApprovalAnswer): Promise<void> {
    const header = commandHeader();
    const stream = { kind: StreamKind.SESSION, id: childSessionId ?? this.sessionId };
    await passConflict(this.#options.link.call((client) => client.approval.resolveApproval({ header, stream, approvalId, ...answer })));
    await this.until((state) => !state.isOpen(approvalId));
  }

  /** Follows no longer; what runs goes on. */
  async leave(): Promise<void> {
    this.#leave.abort();
    await this.#following;
  }

  readonly #seenTurns = new Set<string>();
  /** Ends the following of a sub-agent, by its call. */
  readonly #children = new Map<string, AbortController>();

  /** Begins to follow a sub-agent that is called, and ends it with its call. */
  #lookForChild({ payload, toolCallId }: Event): void {
    if (payload.case === "toolRequested" && SUB_AGENT.test(payload.value.tool)) {
      const end = new AbortController();
      this.#children.set(toolCallId, end);
      this.#followChild(toolCallId, AbortSignal.any([end.signal, this.#leave.signal])).catch((error: unknown) => {
        this.#failure = { error };
        this.#failed.reject(error);
      });
    }
    if (payload.case === "toolCompleted" || payload.case === "toolFailed" || payload.case === "toolCancelled" || payload.case === "toolDenied") {
      this.#children.get(toolCallId)?.abort();
      this.#children.delete(toolCallId);
    }
  }

  async #followChild(id: string, signal: AbortSignal): Promise<void> {
    const { link, excludeKinds, onChildEvent } = this.#options;
    const streams = [{ stream: { kind: StreamKind.SESSION, id } }];
    while (!signal.aborted) {
      try {
        for await (const followed of link.follow({ streams, excludeKinds, signal })) {
          if (followed.kind !== "event") continue;
          onChildEvent?.(followed.event);
          this.state.applyChild(id, followed.event);
          this.#lookForChild(followed.event);
        }
        return;
      } catch (error) {
        if (!(error instanceof ForgeError && error.code === ErrorCode.NOT_FOUND)) throw error;
        await sleep(CHILD_LOOK_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

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
        this.#lookForChild(event);
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
