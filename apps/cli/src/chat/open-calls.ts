import type { Event } from "@forge/protocol/event";
import type { ApprovalCategory, ToolPreview, ToolSpec } from "@forge/protocol/tool";
import { categoryOf } from "../approvals/category.ts";

interface OpenCall {
  readonly tool: string;
  readonly argumentsJson: string;
  /** What it would do, as the worker told. */
  readonly preview?: ToolPreview;
}

/** A tool call that waits for a person. */
export interface OpenApproval extends OpenCall {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly category: ApprovalCategory;
  /** Of a sub-agent's call, its session. */
  readonly childSessionId?: string;
}

/** A question that a model, or a tool, asks a person. */
export interface OpenQuestion {
  readonly inputId: string;
  readonly turnId: string;
  readonly toolCallId: string;
  /** Of a sub-agent's question, its session. */
  readonly childSessionId?: string;
}

/** The calls of one session's turn that are open, and what of them waits for a person. */
export class OpenCalls {
  readonly #childSessionId: string | undefined;
  #tools: readonly ToolSpec[] = [];
  readonly #calls = new Map<string, OpenCall>();
  readonly #approvals = new Map<string, OpenApproval>();
  readonly #questions = new Map<string, OpenQuestion>();

  /** `childSessionId` where the session is a sub-agent's. */
  constructor(childSessionId?: string) {
    this.#childSessionId = childSessionId;
  }

  /** The oldest call that waits. */
  get approval(): OpenApproval | undefined {
    return this.#approvals.values().next().value;
  }

  /** The oldest question. */
  get question(): OpenQuestion | undefined {
    return this.#questions.values().next().value;
  }

  isOpen(approvalId: string): boolean {
    return this.#approvals.has(approvalId);
  }

  /** Whether the event changed anything that somebody may wait for. */
  apply({ payload, turnId, toolCallId }: Event): boolean {
    const child = this.#childSessionId === undefined ? {} : { childSessionId: this.#childSessionId };
    switch (payload.case) {
      case "turnStarted":
        this.#tools = payload.value.tools;
        return true;
      case "turnCompleted":
      case "turnFailed":
      case "turnCancelled":
      case "turnAbandoned":
        this.clear();
        return true;
      case "toolRequested":
        this.#calls.set(toolCallId, { tool: payload.value.tool, argumentsJson: payload.value.argumentsJson });
        return false;
      case "toolPreviewed":
        this.#change(toolCallId, { preview: payload.value.preview });
        return false;
      case "toolArgumentsEdited":
        this.#change(toolCallId, { argumentsJson: payload.value.argumentsJson });
        return false;
      case "toolApprovalRequired": {
        const { approvalId } = payload.value;
        const call = this.#calls.get(toolCallId) ?? { tool: "", argumentsJson: "" };
        const category = categoryOf(this.#tools.find(({ name }) => name === call.tool));
        this.#approvals.set(approvalId, { approvalId, toolCallId, category, ...call, ...child });
        return true;
      }
      case "approvalResolved":
      case "approvalExpired":
        return this.#approvals.delete(payload.value.approvalId);
      case "turnInputRequested": {
        const { inputId } = payload.value;
        this.#questions.set(inputId, { inputId, turnId, toolCallId, ...child });
        return true;
      }
      case "turnInputProvided":
        return this.#questions.delete(payload.value.inputId);
      case "toolFailed":
      case "toolCancelled":
        for (const [id, question] of this.#questions) if (question.toolCallId === toolCallId) this.#questions.delete(id);
        for (const [id, approval] of this.#approvals) if (approval.toolCallId === toolCallId) this.#approvals.delete(id);
        return true;
      default:
        return false;
    }
  }

  /** Nothing is open any more. */
  clear(): void {
    this.#calls.clear();
    this.#approvals.clear();
    this.#questions.clear();
  }

  #change(toolCallId: string, what: Partial<OpenCall>): void {
    const call = this.#calls.get(toolCallId);
    if (call !== undefined) this.#calls.set(toolCallId, { ...call, ...what });
  }
}
