import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type Event, FinishReason, type HookCompleted, type ModelCompleted, type SessionCompacted, type ToolReportedLate } from "@forge/protocol/event";
import { HookAt, type Message, MessageSchema, PartSchema, Role, type ToolCallPart, type ToolResultPart } from "@forge/protocol/session";
import { replaceText } from "./replace-text.ts";
import { editedResult, endedCallResult, forkedResult, unfinishedResult } from "./tool-results.ts";

export interface ConversationOptions {
  /** The turn that asks: its ephemeral messages are in. Absent: none are. */
  readonly turnId?: string;
  /** For a fork: calls that do not end in the range are said to be of unknown outcome, as nobody will ever tell. */
  readonly fork?: boolean;
  /**
   * For a hook: an answer whose calls nobody has requested yet is the last message, without results, and so it stays whatever hooks before added to it. No
   * provider takes such a conversation.
   */
  readonly hook?: boolean;
}

/**
 * The messages that events in order (those of one session, from any seq on) amount to, as every provider accepts them: the calls of an answer are followed
 * by one message with exactly one result for each, in the order of the calls, whatever happened in between. What does not end in the range is said to be
 * unfinished; results of calls before the range are left out, as are answers that a filter stopped and answers without content. What a person says while a
 * model writes follows its answer and the results of its calls. A compaction replaces all up to its seq by one message of a user's: what a summary repeats
 * was said by people and tools, so it must not speak with the system's voice. One that was made within a turn leaves what the person said in it. Hooks change the
 * message or the answer that they are about, and add messages: to a person's before it, since they are what it is to be read with, else where they were called.
 * A person's message that a hook blocked is read by nobody.
 * Throws on an event of a kind that this version does not know, since it might have been a part of the conversation.
 */
export function foldConversation(events: Iterable<Event>, options: ConversationOptions = {}): Message[] {
  const conversation = new Conversation(options.fork === true ? forkedResult : unfinishedResult, options.hook === true);
  for (const event of standing(events)) {
    const payload = event.payload;
    switch (payload.case) {
      case "messageAdded": {
        const message = payload.value.message;
        if (message !== undefined && isTold(message, event, options)) conversation.say(messageAt(message, event), true);
        break;
      }
      case "turnSteered": {
        const { message } = payload.value;
        if (message !== undefined) conversation.steer(messageAt(message, event), true);
        break;
      }
      case "sessionCompacted":
        conversation.compact(event, payload.value);
        break;
      case "hookCompleted":
        conversation.edit(payload.value, (message) => (isTold(message, event, options) ? messageAt(message, event) : undefined));
        break;
      case "modelRequested":
        conversation.ask();
        break;
      case "modelCompleted":
        conversation.answer(event, payload.value);
        break;
      case "modelFailed":
      case "modelCancelled":
        conversation.missAnswer();
        break;
      case "toolRequested":
        conversation.request(event.toolCallId);
        break;
      case "toolCompleted":
      case "toolFailed":
      case "toolDenied":
      case "toolCancelled":
      case "toolSettledUnknown":
        conversation.endCall(event, (call) => endedCallResult(call, payload));
        break;
      case "toolArgumentsEdited":
        conversation.editCall(event.toolCallId, payload.value.argumentsJson);
        break;
      case "toolReportedLate":
        conversation.reportLate(event, payload.value);
        break;
      case undefined:
        throw new ForgeError(ErrorCode.INTERNAL, `Event ${event.seq} of session ${event.stream?.id ?? ""} is of a kind that this version does not know.`, {
          reason: "UNKNOWN_EVENT",
          origin: "control-plane",
        });
      default:
        break;
    }
  }
  return conversation.messages();
}

/** Whether a message is a part of the conversation for the one who asks. */
function isTold(message: Message, event: Event, { turnId }: ConversationOptions): boolean {
  return message.parts.length > 0 && (!message.ephemeral || (turnId !== undefined && event.turnId === turnId));
}

function messageAt(message: Message, { seq, turnId }: Event): Message {
  return create(MessageSchema, { ...message, seq, turnId });
}

/** The events without what a rewind left behind. A rewind to before the first of them leaves none. */
function standing(events: Iterable<Event>): readonly Event[] {
  let kept: Event[] = [];
  for (const event of events) {
    if (event.payload.case !== "sessionRewound") kept.push(event);
    else {
      const { throughSeq } = event.payload.value;
      kept = kept.filter(({ seq }) => seq <= throughSeq);
    }
  }
  return kept;
}

/** An answer whose calls have not all ended. */
interface OpenAnswer {
  readonly turnId: string;
  readonly calls: readonly ToolCallPart[];
  readonly results: Map<string, ToolResultPart>;
  /** Arguments that a person put in the place of a call's, by the call's id. */
  readonly edited: Map<string, string>;
  /** What was said meanwhile; it follows the results. */
  readonly meanwhile: Message[];
  /** Whether any of its calls was requested. */
  isRequested: boolean;
  seq: bigint;
}

class Conversation {
  readonly #resultOfOpen: (call: ToolCallPart) => ToolResultPart;
  readonly #isForHook: boolean;
  #messages: Message[] = [];
  #summary: Message | undefined;
  #open: OpenAnswer | undefined;
  /** The seqs of what people said, and hosts for them. */
  readonly #said = new Set<bigint>();
  /** What was said since the model was asked; undefined where no model writes. */
  #meanwhile: Message[] | undefined;

  constructor(resultOfOpen: (call: ToolCallPart) => ToolResultPart, isForHook: boolean) {
    this.#resultOfOpen = resultOfOpen;
    this.#isForHook = isForHook;
  }

  say(message: Message, isPersons = false): void {
    if (isPersons) this.#said.add(message.seq);
    if (this.#open === undefined) this.#messages.push(message);
    else if (message.turnId === this.#open.turnId) this.#open.meanwhile.push(message);
    else {
      this.#closeAnswer();
      this.#messages.push(message);
    }
  }

  ask(): void {
    this.#meanwhile = [];
  }

  /** What the model under way can't have read comes after its answer, so that every request begins with what the one before it was sent. */
  steer(message: Message, isPersons = false): void {
    if (isPersons) this.#said.add(message.seq);
    if (this.#meanwhile === undefined) this.say(message);
    else this.#meanwhile.push(message);
  }

  answer(event: Event, completed: ModelCompleted): void {
    this.#closeAnswer();
    const meanwhile = this.#meanwhile ?? [];
    this.#meanwhile = undefined;
    if (completed.finishReason === FinishReason.CONTENT_FILTER || completed.parts.length === 0) {
      this.#messages.push(...meanwhile);
      return;
    }
    const { seq, turnId } = event;
    this.#messages.push(create(MessageSchema, { role: Role.ASSISTANT, parts: completed.parts, seq, turnId }));
    const calls = completed.parts.flatMap((part) => (part.kind.case === "toolCall" ? part.kind.value : []));
    if (calls.length > 0) this.#open = { turnId, calls, results: new Map(), edited: new Map(), meanwhile, isRequested: false, seq };
    else this.#messages.push(...meanwhile);
  }

  missAnswer(): void {
    const meanwhile = this.#meanwhile ?? [];
    this.#meanwhile = undefined;
    for (const message of meanwhile) this.say(message);
  }

  /** The newest summary stands alone: it was written from a conversation that began with the one before it. */
  compact(event: Event, compacted: SessionCompacted): void {
    this.#close();
    const isOfTurn = (message: Message) => event.turnId !== "" && message.turnId === event.turnId && this.#said.has(message.seq);
    this.#messages = this.#messages.filter((message) => message.seq > compacted.throughSeq || isOfTurn(message));
    this.#summary = userMessage(event, `${SUMMARY_MARK}\n\n${compacted.summary}`);
  }

  /** What a hook changed. Whatever it is about has been told by then, and no model has read it. */
  edit({ at, aboutSeq, edits }: HookCompleted, told: (message: Message) => Message | undefined): void {
    const role = at === HookAt.USER_MESSAGE ? Role.USER : Role.ASSISTANT;
    for (const { kind } of edits) {
      const about = this.#messages.findLastIndex((message) => message.seq === aboutSeq && message.role === role);
      if (kind.case === "addMessage") {
        const message = told(kind.value);
        if (message === undefined) continue;
        if ((at === HookAt.USER_MESSAGE || this.#isForHook) && about !== -1) this.#messages.splice(about, 0, message);
        else this.say(message);
      } else if (kind.case === "replaceText" && about !== -1) {
        const replaced = replaceText(this.#messages[about] as Message, kind.value);
        this.#messages.splice(about, 1, ...(replaced.parts.length === 0 ? [] : [replaced]));
      } else if (kind.case === "block" && at === HookAt.USER_MESSAGE && about !== -1) this.#messages.splice(about, 1);
    }
  }

  request(toolCallId: string): void {
    const open = this.#open;
    if (open?.calls.some((call) => call.toolCallId === toolCallId) === true) open.isRequested = true;
  }

  endCall(event: Event, resultOf: (call: ToolCallPart) => ToolResultPart): void {
    const open = this.#open;
    const call = open?.calls.find((candidate) => candidate.toolCallId === event.toolCallId);
    if (open === undefined || call === undefined || open.results.has(call.toolCallId)) return;
    open.results.set(call.toolCallId, editedResult(resultOf(call), open.edited.get(call.toolCallId)));
    open.seq = event.seq;
    if (open.results.size === open.calls.length) this.#closeAnswer();
  }

  /** The answer stays as the model wrote it; the result tells that it is another call's. */
  editCall(toolCallId: string, argumentsJson: string): void {
    this.#open?.edited.set(toolCallId, argumentsJson);
  }

  /** The call has its one result already, so that what came late is told apart from it. */
  reportLate(event: Event, report: ToolReportedLate): void {
    const preview = report.preview === "" ? "" : `: ${report.preview}`;
    const text = `[A late report on tool call ${event.toolCallId}, which had ended for this conversation: it ${LATE.get(report.outcome) ?? "ended"}${preview}]`;
    const message = userMessage(event, text);
    if (this.#open === undefined) this.steer(message);
    else this.#open.meanwhile.push(message);
  }

  messages(): Message[] {
    if (this.#isForHook && this.#open?.isRequested === false) this.#open = undefined;
    this.#close();
    return this.#summary === undefined ? this.#messages : [this.#summary, ...this.#messages];
  }

  #close(): void {
    this.#closeAnswer();
    this.missAnswer();
  }

  #closeAnswer(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const parts = open.calls.map((call) =>
      create(PartSchema, { kind: { case: "toolResult", value: open.results.get(call.toolCallId) ?? this.#resultOfOpen(call) } }),
    );
    this.#messages.push(create(MessageSchema, { role: Role.TOOL, parts, seq: open.seq, turnId: open.turnId }), ...open.meanwhile);
  }
}

/** Tells a model, and whoever reads the conversation, that the message is no person's words. */
const SUMMARY_MARK = "[A summary of the conversation up to here, which it stands for]";

function userMessage(event: Event, text: string): Message {
  const parts = [create(PartSchema, { kind: { case: "text", value: { $typeName: "forge.session.v1.TextPart", text } } })];
  return create(MessageSchema, { role: Role.USER, parts, seq: event.seq, turnId: event.turnId });
}

const LATE: ReadonlyMap<string, string> = new Map([
  ["completed", "completed"],
  ["failed", "failed"],
  ["cancelled", "was cancelled"],
]);
