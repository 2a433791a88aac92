import type { Usage } from "@forge/protocol/common";
import type { Event, TurnOutputDelta } from "@forge/protocol/event";
import { type Message, type Part, Role, TurnOutcome, TurnOutcomeSchema } from "@forge/protocol/session";
import { partsText } from "../events/event-summary.ts";
import { formatDuration, momentMs } from "../output/format-time.ts";
import { formatCost, formatTokens } from "../output/format-usage.ts";
import { enumName } from "../output/message-json.ts";
import type { Style } from "../output/style.ts";
import { cut, oneLine, safeText } from "../output/text.ts";
import { CallView } from "./call-view.ts";
import { SessionLines } from "./session-lines.ts";

export interface ChatViewOptions {
  readonly style: Style;
  readonly columns: () => number;
  /** Of a diff, how many lines are shown; absent: 40. */
  readonly diffLinesMax?: () => number;
}

const DIFF_LINES_MAX = 40;

interface Answer {
  readonly modelCallId: string;
  readonly epoch: number;
  /** What of the answer's text has been shown, as it came. */
  text: string;
  reasoning: string;
}

/** A session as a conversation: events in, text to write out. Whatever was not seen while it streamed is shown once it is whole. */
export class ChatView {
  readonly #options: ChatViewOptions;
  #answer: Answer | undefined;
  #isAtLineStart = true;
  #turnStartedMs = 0;
  readonly #calls: CallView;
  readonly #session: SessionLines;

  constructor(options: ChatViewOptions) {
    this.#options = options;
    this.#calls = new CallView({ diffLinesMax: () => DIFF_LINES_MAX, ...options });
    this.#session = new SessionLines(options.style);
  }

  /** Whether the next text begins a line. */
  get isAtLineStart(): boolean {
    return this.#isAtLineStart;
  }

  /** Somebody else has moved the cursor to the start of a line. */
  startLine(): void {
    this.#isAtLineStart = true;
  }

  apply(event: Event): string {
    const text = this.#textOf(event);
    if (text !== "") this.#isAtLineStart = text.endsWith("\n");
    return text;
  }

  /** What a sub-agent does, behind a line: its calls and questions. */
  applyChild(event: Event): string {
    const { style } = this.#options;
    const { payload } = event;
    const asked = payload.case === "turnInputRequested" ? [`${style.yellow("?")} ${oneLine(payload.value.question)}`] : undefined;
    const text = (asked ?? this.#calls.lines(event) ?? []).map((line) => this.#line(`${style.dim("│")} ${line}`)).join("");
    if (text !== "") this.#isAtLineStart = true;
    return text;
  }

  #textOf(event: Event): string {
    const { payload, modelCallId } = event;
    const { style } = this.#options;
    switch (payload.case) {
      case "messageAdded":
        return this.#message(payload.value.message);
      case "turnSteered":
        return `${this.#fresh()}${style.cyan("›")} ${partsText(payload.value.message?.parts ?? [])}\n`;
      case "turnInputRequested":
        return `${this.#fresh()}${style.yellow("?")} ${safeText(payload.value.question)}\n`;
      case "turnPaused":
        return this.#line(style.yellow("■ paused; /continue lets it go on"));
      case "turnContinued":
        return this.#line(style.dim("The turn goes on."));
      case "turnOutputDelta":
        return this.#delta(modelCallId, payload.value);
      case "modelCompleted":
        return this.#completed(modelCallId, payload.value.parts);
      case "modelAttemptFailed":
        return this.#line(`${style.yellow("↻")} attempt ${payload.value.attempt} failed: ${oneLine(payload.value.error?.message ?? "")}`);
      case "turnCompleted":
        return `${
          payload.value.outcome === TurnOutcome.TASK_COMPLETED
            ? this.#fresh()
            : this.#line(style.yellow(`■ ended: ${enumName(TurnOutcomeSchema, payload.value.outcome)}`))
        }${this.#used(event, payload.value.usage)}`;
      case "turnFailed":
        return `${this.#line(`${style.red("✖")} ${oneLine(payload.value.error?.message ?? enumName(TurnOutcomeSchema, payload.value.outcome))}`)}${this.#used(event, payload.value.usage)}`;
      case "turnCancelled":
        return `${this.#line(style.yellow("■ cancelled"))}${this.#used(event, payload.value.usage)}`;
      case "turnAbandoned":
        return this.#line(style.yellow("■ abandoned"));
      case "sessionClosed":
        return this.#line(style.dim("The session is closed."));
      default:
        if (payload.case === "turnStarted") this.#turnStartedMs = momentMs(event.occurredAt);
        return (this.#calls.lines(event) ?? this.#session.lines(event) ?? []).map((line) => this.#line(line)).join("");
    }
  }

  /** What a person said, and what of an answer a fork began with. What the host found for a turn is told by its sources. */
  #message(message: Message | undefined): string {
    if (message === undefined || message.ephemeral) return "";
    if (message.role === Role.USER) return `${this.#fresh()}${this.#options.style.cyan("›")} ${partsText(message.parts)}\n`;
    const text = message.role === Role.ASSISTANT ? safeText(textOf(message.parts, "text")).trimEnd() : "";
    return text === "" ? "" : `${this.#fresh()}${text}\n`;
  }

  /** What a turn took and cost; nothing of one that called no model. */
  #used({ occurredAt }: Event, usage: Usage | undefined): string {
    if (usage === undefined || usage.inputTokens + usage.outputTokens === 0n) return "";
    const took = this.#turnStartedMs === 0 ? "" : `${formatDuration(momentMs(occurredAt) - this.#turnStartedMs)}, `;
    const cached =
      usage.cachedInputTokens === 0n ? "" : ` (${Math.round((100 * Number(usage.cachedInputTokens)) / Number(usage.inputTokens))} % of the input cached)`;
    return `${this.#options.style.dim(`${took}${formatTokens(usage)} tokens${cached}, ${formatCost(usage)}`)}\n`;
  }

  #delta(modelCallId: string, { channel, epoch }: TurnOutputDelta): string {
    if (channel.case !== "text" && channel.case !== "reasoning") return "";
    let start = "";
    if (this.#answer?.modelCallId !== modelCallId || this.#answer.epoch !== epoch) {
      // A new attempt begins the answer anew.
      start = this.#fresh();
      this.#answer = { modelCallId, epoch, text: "", reasoning: "" };
    }
    if (channel.case === "reasoning") {
      this.#answer.reasoning += channel.value;
      return start + this.#options.style.dim(safeText(channel.value));
    }
    if (this.#answer.text === "") start ||= this.#fresh();
    this.#answer.text += channel.value;
    return start + safeText(channel.value);
  }

  #completed(modelCallId: string, parts: readonly Part[]): string {
    const [text, reasoning] = [textOf(parts, "text"), textOf(parts, "reasoning")];
    const shown = this.#answer?.modelCallId === modelCallId ? this.#answer : undefined;
    this.#answer = undefined;
    const { text: shownText, reasoning: shownReasoning } = shown ?? { text: "", reasoning: "" };
    // Of what it thought, only the end of what a person has begun to read.
    const thought =
      shownReasoning !== "" && shownText === "" && reasoning.startsWith(shownReasoning)
        ? this.#options.style.dim(safeText(reasoning.slice(shownReasoning.length)))
        : "";
    const goesOn = shownText !== "" && text.startsWith(shownText);
    const rest = safeText(goesOn ? text.slice(shownText.length) : text);
    const start = goesOn || rest === "" || (thought === "" && this.#isAtLineStart) ? "" : "\n";
    const written = `${thought}${start}${rest}`;
    const needsEnd = written === "" ? !this.#isAtLineStart : !written.endsWith("\n");
    return needsEnd ? `${written}\n` : written;
  }

  /** What brings the cursor to the start of a line. */
  #fresh(): string {
    return this.#isAtLineStart ? "" : "\n";
  }

  #line(text: string): string {
    const start = this.#fresh();
    this.#isAtLineStart = true;
    return `${start}${cut(text, this.#options.columns() - 1)}\n`;
  }
}

function textOf(parts: readonly Part[], channel: "text" | "reasoning"): string {
  return parts.map(({ kind }) => (kind.case === channel ? kind.value.text : "")).join("");
}
