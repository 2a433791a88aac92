import type { Usage } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { RunStatus, StepType, type WorkflowDefinition } from "@forge/protocol/workflow";
import { formatDuration, formatElapsed, momentMs } from "../output/format-time.ts";
import { formatCost } from "../output/format-usage.ts";
import { spinner } from "../output/spinner.ts";
import type { Style } from "../output/style.ts";
import { cut, cutStart, oneLine, pad, safeText, widthOf } from "../output/text.ts";

export interface RunViewOptions {
  readonly definition: WorkflowDefinition;
  readonly style: Style;
  /** A terminal where the active step has lines that move; otherwise its beginning is told by a line as well. */
  readonly isLive: boolean;
  readonly columns: () => number;
  /** What a later command must say to mean the same project. */
  readonly hint: string;
}

interface ActiveStep {
  readonly id: string;
  readonly type: string;
  readonly startedAtMs: number;
  /** What it is busy with, shown below it. */
  detail: string;
  /** The text that its agent writes at the moment. */
  text: string;
}

/** What is kept of a text that streams: more than any terminal is wide. */
const TEXT_CHARACTERS_MAX = 1_000;
const NAME_COLUMNS_MAX = 24;
const ERROR_COLUMNS_MIN = 200;

const TYPES: Readonly<Record<number, string>> = { [StepType.AGENT]: "agent", [StepType.FUNCTION]: "function", [StepType.TOOL]: "tool" };

/** A run as it goes: events in, lines out. */
export class RunView {
  readonly #options: RunViewOptions;
  readonly #nameColumns: number;
  #active: ActiveStep | undefined;
  #status: RunStatus = RunStatus.RUNNING;

  constructor(options: RunViewOptions) {
    this.#options = options;
    this.#nameColumns = Math.min(NAME_COLUMNS_MAX, Math.max(...options.definition.steps.map(({ id }) => widthOf(id)), 4));
  }

  get status(): RunStatus {
    return this.#status;
  }

  get hasEnded(): boolean {
    return this.#status !== RunStatus.RUNNING && this.#status !== RunStatus.CANCELLING;
  }

  /** Lines about the active step, at a time; they replace those before. */
  liveLines(nowMs: number): string[] {
    const { style, columns } = this.#options;
    const step = this.#active;
    if (step === undefined || this.hasEnded) return [];
    const state = this.#status === RunStatus.CANCELLING ? style.yellow("  cancelling") : "";
    const head = `${style.cyan(spinner(nowMs))} ${this.#name(step.id)}  ${style.dim(pad(step.type, 8))}  ${pad(formatElapsed(nowMs - step.startedAtMs), 7, "right")}${state}`;
    const below = step.text === "" ? cut(step.detail, columns() - 5) : cutStart(step.text, columns() - 5);
    return below === "" ? [head] : [head, `    ${style.dim(below)}`];
  }

  /** Takes an event of the run or of a session that works for it; the lines that stay. */
  apply(event: Event): string[] {
    const { payload } = event;
    switch (payload.case) {
      case "stepStarted":
        return this.#started(event, TYPES[payload.value.stepType] ?? "", payload.value.attempt);
      case "stepAttemptFailed":
        return [
          this.#line(this.#options.style.yellow("↻"), event.stepId, `attempt ${payload.value.attempt} failed: ${oneLine(payload.value.error?.message ?? "")}`),
        ];
      case "stepCompleted":
        return this.#ended(this.#options.style.green("✔"), event, payload.value.usage, branch(payload.value));
      case "stepFailed":
        return this.#ended(this.#options.style.red("✖"), event, payload.value.usage, this.#options.style.red(shorten(payload.value.error?.message ?? "")));
      case "runCancelRequested":
        this.#status = RunStatus.CANCELLING;
        return this.#options.isLive ? [] : ["cancelling"];
      case "runCompleted":
        this.#status = payload.value.withErrors ? RunStatus.COMPLETED_WITH_ERRORS : RunStatus.COMPLETED;
        return [];
      case "runFailed":
        this.#status = RunStatus.FAILED;
        return [];
      case "runCancelled":
        this.#status = RunStatus.CANCELLED;
        return this.#active === undefined ? [] : [this.#line(this.#options.style.yellow("■"), this.#active.id, "cancelled")];
      default:
        return this.#ofSession(event);
    }
  }

  #ofSession({ payload, stream }: Event): string[] {
    const { style, hint } = this.#options;
    switch (payload.case) {
      case "turnOutputDelta":
        if (payload.value.channel.case === "text") this.#write(payload.value.channel.value, payload.value.offset === 0n);
        return [];
      case "toolRequested": {
        const call = `${payload.value.tool} ${oneLine(payload.value.argumentsJson)}`;
        this.#busyWith(call);
        return this.#options.isLive ? [] : [`    ${cut(call, this.#options.columns() - 4)}`];
      }
      case "toolApprovalRequired":
        return [
          // Whole: nobody should have to answer a call of which they see a part.
          `${style.yellow("?")} waits for an answer: ${this.#active?.detail ?? "a tool call"}`,
          `    npx forge approve ${stream?.id ?? ""}${hint}   (or --deny)`,
        ];
      case "approvalResolved":
      case "approvalExpired":
        return [`    ${style.dim(payload.case === "approvalExpired" ? "nobody answered in time: denied" : "answered")}`];
      case "modelAttemptFailed":
        return [`    ${style.yellow("↻")} the model's attempt ${payload.value.attempt} failed: ${shorten(payload.value.error?.message ?? "")}`];
      default:
        return [];
    }
  }

  #started({ stepId, occurredAt }: Event, type: string, attempt: number): string[] {
    const again = attempt > 1 && this.#active?.id === stepId;
    this.#active = {
      id: stepId,
      type,
      startedAtMs: again ? (this.#active as ActiveStep).startedAtMs : momentMs(occurredAt),
      detail: again ? `attempt ${attempt}` : "",
      text: "",
    };
    return this.#options.isLive || again ? [] : [`  ${this.#name(stepId)}  ${type}`];
  }

  #ended(symbol: string, { stepId, occurredAt }: Event, usage: Usage | undefined, note: string): string[] {
    const step = this.#active;
    this.#active = undefined;
    const ms = step?.id === stepId ? momentMs(occurredAt) - step.startedAtMs : 0;
    const cost = usage === undefined ? "" : formatCost(usage);
    return [
      this.#line(
        symbol,
        stepId,
        `${this.#options.style.dim(pad(step?.type ?? "", 8))}  ${pad(formatDuration(ms), 7, "right")}  ${pad(cost, 7, "right")}  ${note}`,
      ),
    ];
  }

  #line(symbol: string, stepId: string, rest: string): string {
    return `${symbol} ${this.#name(stepId)}  ${rest}`.trimEnd();
  }

  #name(stepId: string): string {
    return pad(cut(stepId, this.#nameColumns), this.#nameColumns);
  }

  #busyWith(what: string): void {
    if (this.#active === undefined) return;
    this.#active.detail = what;
    this.#active.text = "";
  }

  #write(text: string, isNew: boolean): void {
    if (this.#active === undefined) return;
    const all = (isNew ? "" : this.#active.text) + safeText(text).replaceAll(/\s+/g, " ");
    this.#active.text = all.slice(-TEXT_CHARACTERS_MAX).toWellFormed();
  }
}

/** The branch that was taken, where there was one to take. */
function branch({ nextStepId, nextSource }: { readonly nextStepId: string; readonly nextSource: string }): string {
  return nextSource === "sequence" || nextSource === "end" || nextSource === "" ? "" : `→ ${nextStepId || "end"}`;
}

function shorten(message: string): string {
  return cut(oneLine(message), ERROR_COLUMNS_MIN);
}
