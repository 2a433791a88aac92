import { type Event, type TurnOutputDelta } from "@forge/protocol/event";
import { type Part, Role, TurnOutcome, TurnOutcomeSchema } from "@forge/protocol/session";
import { partsText } from "../events/event-summary.ts";
import { formatDuration } from "../output/format-time.ts";
import { enumName } from "../output/message-json.ts";
import type { Style } from "../output/style.ts";
import { cut, oneLine, safeText } from "../output/text.ts";
import { previewValue } from "../output/value.ts";

export interface ChatViewOptions {
  readonly style: Style;
  readonly columns: () => number;
}

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

  constructor(options: ChatViewOptions) {
    this.#options = options;
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

  #textOf({ payload, modelCallId }: Event): string {
    const { style } = this.#options;
    switch (payload.case) {
      case "messageAdded":
        return payload.value.message?.role === Role.USER ? `${this.#fresh()}${style.cyan("›")} ${partsText(payload.value.message.parts)}\n` : "";
      case "turnSteered":
        return `${this.#fresh()}${style.cyan("›")} ${partsText(payload.value.message?.parts ?? [])}\n`;
      case "turnInputRequested":
        return `${this.#fresh()}${style.yellow("?")} ${safeText(payload.value.question)}\n`;
      case "turnPaused":
        return this.#line(style.yellow("■ paused; /continue lets it go on"));
      case "turnContinued":
        return this.#line(style.dim("The turn goes on."));
      case "sessionCompacted":
        return this.#line(style.dim("The conversation was compacted; its events stay."));
      case "turnOutputDelta":
        return this.#delta(modelCallId, payload.value);
      case "modelCompleted":
        return this.#completed(modelCallId, payload.value.parts);
      case "modelAttemptFailed":
        return this.#line(`${style.yellow("↻")} attempt ${payload.value.attempt} failed: ${oneLine(payload.value.error?.message ?? "")}`);
      case "toolRequested":
        return this.#line(`${style.cyan("⚙")} ${payload.value.tool} ${style.dim(oneLine(payload.value.argumentsJson))}`);
      case "toolCompleted":
        return this.#line(`  ${style.green("✔")} ${formatDuration(Number(payload.value.durationMs))} ${style.dim(previewValue(payload.value.output))}`);
      case "toolFailed":
        return this.#line(`  ${style.red("✖")} ${oneLine(payload.value.error?.message ?? "")}`);
      case "toolDenied":
        return this.#line(`  ${style.yellow("✖")} denied ${oneLine(payload.value.reason)}`);
      case "toolCancelled":
        return this.#line(`  ${style.yellow("■")} cancelled`);
      case "toolSettledUnknown":
        return this.#line(`  ${style.red("?")} nobody can say what happened: ${oneLine(payload.value.reason)}`);
      case "approvalExpired":
        return this.#line(`  ${style.yellow("✖")} nobody answered in time: denied`);
      case "turnCompleted":
        return payload.value.outcome === TurnOutcome.TASK_COMPLETED
          ? this.#fresh()
          : this.#line(style.yellow(`■ ended: ${enumName(TurnOutcomeSchema, payload.value.outcome)}`));
      case "turnFailed":
        return this.#line(`${style.red("✖")} ${oneLine(payload.value.error?.message ?? enumName(TurnOutcomeSchema, payload.value.outcome))}`);
      case "turnCancelled":
        return this.#line(style.yellow("■ cancelled"));
      case "turnAbandoned":
        return this.#line(style.yellow("■ abandoned"));
      case "sessionClosed":
        return this.#line(style.dim("The session is closed."));
      default:
        return "";
    }
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
    return `${this.#fresh()}${cut(text, this.#options.columns() - 1)}\n`;
  }
}

function textOf(parts: readonly Part[], channel: "text" | "reasoning"): string {
  return parts.map(({ kind }) => (kind.case === channel ? kind.value.text : "")).join("");
}
