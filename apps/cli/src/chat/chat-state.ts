import type { Event } from "@forge/protocol/event";
import { type Message, Role } from "@forge/protocol/session";
import type { ToolPolicy } from "@forge/protocol/tool";
import { partsText } from "../events/event-summary.ts";
import { type OpenApproval, OpenCalls, type OpenQuestion } from "./open-calls.ts";

/** What a person said, and where the session stood before. */
export interface SaidMessage {
  readonly text: string;
  /** The last seq before its turn. */
  readonly throughSeq: bigint;
}

/** What a conversation needs to know of its session: the active turn and the questions that are open. */
export class ChatState {
  #activeTurnId: string | undefined;
  #lastEnd: string | undefined;
  #isCaughtUp = false;
  #turnStartedSeq = 0n;
  #policy: ToolPolicy | undefined;
  #messages: SaidMessage[] = [];
  /** Undos and compactions that have ended. */
  readonly #done = new Set<string>();
  readonly #own = new OpenCalls();
  /** Of sub-agents, by their session. */
  readonly #children = new Map<string, OpenCalls>();
  #changed = Promise.withResolvers<void>();

  get activeTurnId(): string | undefined {
    return this.#activeTurnId;
  }

  /** The kind of the event that ended the last turn. */
  get lastEnd(): string | undefined {
    return this.#lastEnd;
  }

  get isCaughtUp(): boolean {
    return this.#isCaughtUp;
  }

  /** The oldest call that waits for a person, this session's own first; undefined where none does. */
  get approval(): OpenApproval | undefined {
    return this.#first(({ approval }) => approval);
  }

  /** The oldest question that a model asks, this session's own first; undefined where none does. */
  get question(): OpenQuestion | undefined {
    return this.#first(({ question }) => question);
  }

  /** The tool policy as it is now; undefined before the session's first event has been seen. */
  get policy(): ToolPolicy | undefined {
    return this.#policy;
  }

  /** What people said in turns of this session that are still part of it, oldest first. */
  get messages(): readonly SaidMessage[] {
    return this.#messages;
  }

  /** Whether an undo or a compaction has ended. */
  isDone(id: string): boolean {
    return this.#done.has(id);
  }

  isOpen(approvalId: string): boolean {
    return this.#first((calls) => (calls.isOpen(approvalId) ? true : undefined)) === true;
  }

  /** Resolves with the next event that changes anything here. */
  changed(): Promise<void> {
    return this.#changed.promise;
  }

  caughtUp(): void {
    this.#isCaughtUp = true;
    this.#tell();
  }

  apply(event: Event): void {
    const { payload, kind, seq, turnId } = event;
    const hasChanged = this.#own.apply(event);
    switch (payload.case) {
      case "sessionCreated":
      case "sessionPolicyUpdated":
        this.#policy = payload.value.policy;
        break;
      case "messageAdded":
        this.#heard(payload.value.message);
        return;
      case "sessionRewound": {
        const { throughSeq, undoId } = payload.value;
        this.#messages = this.#messages.filter((message) => message.throughSeq < throughSeq);
        this.#done.add(undoId);
        break;
      }
      case "workspaceChangeUndone":
      case "workspaceUndoFailed":
        this.#done.add(payload.value.undoId);
        break;
      case "sessionCompacted":
      case "sessionCompactionFailed":
        this.#done.add(payload.value.compactionId);
        break;
      case "turnStarted":
        this.#activeTurnId = turnId;
        this.#turnStartedSeq = seq;
        break;
      case "turnCompleted":
      case "turnFailed":
      case "turnCancelled":
      case "turnAbandoned":
        this.#activeTurnId = undefined;
        this.#lastEnd = kind;
        this.#children.clear();
        break;
      default:
        if (!hasChanged) return;
    }
    this.#tell();
  }

  /** An event of a sub-agent that works for the active turn. */
  applyChild(sessionId: string, event: Event): void {
    if (this.#activeTurnId === undefined) return;
    const calls = this.#children.get(sessionId) ?? new OpenCalls(sessionId);
    this.#children.set(sessionId, calls);
    if (calls.apply(event)) this.#tell();
  }

  #first<T>(find: (calls: OpenCalls) => T | undefined): T | undefined {
    for (const calls of [this.#own, ...this.#children.values()]) {
      const found = find(calls);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** A message of a turn; what a fork began with belongs to none. */
  #heard(message: Message | undefined): void {
    if (message === undefined || message.role !== Role.USER || message.ephemeral || this.#activeTurnId === undefined) return;
    this.#messages.push({ text: partsText(message.parts), throughSeq: this.#turnStartedSeq - 1n });
  }

  #tell(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
  }
}
