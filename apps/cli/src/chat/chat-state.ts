import type { Event } from "@forge/protocol/event";

/** A tool call that waits for a person. */
export interface OpenApproval {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly argumentsJson: string;
}

/** What a conversation needs to know of its session: the active turn and the questions that are open. */
export class ChatState {
  #activeTurnId: string | undefined;
  #lastEnd: string | undefined;
  #isCaughtUp = false;
  readonly #calls = new Map<string, { readonly tool: string; readonly argumentsJson: string }>();
  readonly #approvals = new Map<string, OpenApproval>();
  /** Questions of the model's, with their calls. */
  readonly #questions = new Map<string, { readonly toolCallId: string }>();
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

  /** The oldest question; undefined where none is open. */
  get approval(): OpenApproval | undefined {
    return this.#approvals.values().next().value;
  }

  /** The id of the oldest question that the model asks; undefined where it asks none. */
  get inputId(): string | undefined {
    return this.#questions.keys().next().value;
  }

  isOpen(approvalId: string): boolean {
    return this.#approvals.has(approvalId);
  }

  /** Resolves with the next event that changes anything here. */
  changed(): Promise<void> {
    return this.#changed.promise;
  }

  caughtUp(): void {
    this.#isCaughtUp = true;
    this.#tell();
  }

  apply({ payload, kind, turnId, toolCallId }: Event): void {
    switch (payload.case) {
      case "turnStarted":
        this.#activeTurnId = turnId;
        break;
      case "turnCompleted":
      case "turnFailed":
      case "turnCancelled":
      case "turnAbandoned":
        this.#activeTurnId = undefined;
        this.#lastEnd = kind;
        this.#calls.clear();
        this.#approvals.clear();
        this.#questions.clear();
        break;
      case "toolRequested":
        this.#calls.set(toolCallId, { tool: payload.value.tool, argumentsJson: payload.value.argumentsJson });
        return;
      case "toolApprovalRequired": {
        const { approvalId } = payload.value;
        this.#approvals.set(approvalId, { approvalId, toolCallId, ...(this.#calls.get(toolCallId) ?? { tool: "", argumentsJson: "" }) });
        break;
      }
      case "approvalResolved":
      case "approvalExpired":
        this.#approvals.delete(payload.value.approvalId);
        break;
      case "turnInputRequested":
        this.#questions.set(payload.value.inputId, { toolCallId });
        break;
      case "turnInputProvided":
        this.#questions.delete(payload.value.inputId);
        break;
      case "toolFailed":
        for (const [id, question] of this.#questions) if (question.toolCallId === toolCallId) this.#questions.delete(id);
        break;
      case "toolCancelled":
        for (const [id, question] of this.#questions) if (question.toolCallId === toolCallId) this.#questions.delete(id);
        for (const [id, approval] of this.#approvals) if (approval.toolCallId === toolCallId) this.#approvals.delete(id);
        break;
      default:
        return;
    }
    this.#tell();
  }

  #tell(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
  }
}
