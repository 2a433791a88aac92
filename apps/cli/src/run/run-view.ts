import type { Usage } from "@forge/protocol/common";
import type { Event, StepCompleted, StepStarted } from "@forge/protocol/event";
import { RunStatus, type WorkflowDefinition } from "@forge/protocol/workflow";
import { formatDuration, momentMs } from "../output/format-time.ts";
import { formatCost } from "../output/format-usage.ts";
import type { Style } from "../output/style.ts";
import { cut, oneLine, pad, widthOf } from "../output/text.ts";
import { type ActiveStep, ActiveSteps, executionName } from "./active-steps.ts";
import { liveLines } from "./live-lines.ts";

export interface RunViewOptions {
  readonly runId: string;
  readonly definition: WorkflowDefinition;
  readonly style: Style;
  /** A terminal where what is under way has lines that move; otherwise its beginning is told by a line as well. */
  readonly isLive: boolean;
  readonly columns: () => number;
  /** Of the terminal; absent: as many as most have. */
  readonly rows?: (() => number) | undefined;
  /** What a later command must say to mean the same project. */
  readonly hint: string;
}

const UNDER_WAY: ReadonlySet<RunStatus> = new Set([RunStatus.RUNNING, RunStatus.CANCELLING, RunStatus.PAUSED, RunStatus.QUEUED]);
const NOTES: ReadonlyMap<RunStatus, string> = new Map([
  [RunStatus.CANCELLING, "cancelling"],
  [RunStatus.PAUSED, "paused"],
  [RunStatus.QUEUED, "queued"],
]);
const NAME_COLUMNS_MAX = 24;
/** Of an item's place in its list: [9999]. */
const ITEM_COLUMNS = 6;
const ERROR_COLUMNS_MIN = 200;
const ROWS_DEFAULT = 24;

/** A run as it goes: events in, lines out. Of the items of a list only those that fail have lines that stay. */
export class RunView {
  readonly #options: RunViewOptions;
  readonly #nameColumns: number;
  readonly #active = new ActiveSteps();
  #status: RunStatus = RunStatus.RUNNING;

  constructor(options: RunViewOptions) {
    this.#options = options;
    const widths = options.definition.steps.map(({ id, forEach }) => Math.min(NAME_COLUMNS_MAX, widthOf(id)) + (forEach === undefined ? 0 : ITEM_COLUMNS));
    this.#nameColumns = Math.max(...widths, 4);
  }

  get status(): RunStatus {
    return this.#status;
  }

  get hasEnded(): boolean {
    return !UNDER_WAY.has(this.#status);
  }

  /** Lines about what is under way, at a time; they replace those before. Never more than the terminal has room for. */
  liveLines(nowMs: number): string[] {
    if (this.hasEnded) return [];
    const { style, columns, rows } = this.#options;
    return liveLines(this.#active.values(), {
      style,
      columns: columns(),
      rows: rows?.() ?? ROWS_DEFAULT,
      nowMs,
      note: NOTES.get(this.#status) ?? "",
      nameColumns: this.#nameColumns,
    });
  }

  /** Takes an event of the run, of a session that works for it, or of a run that it started; the lines that stay. */
  apply(event: Event): string[] {
    const { payload, stream } = event;
    // Without a name of its own, an event is the run's.
    if ((stream?.id ?? this.#options.runId) !== this.#options.runId) return this.#ofAnother(event);
    const { style, isLive, hint, runId } = this.#options;
    switch (payload.case) {
      case "stepStarted":
        return this.#started(event, payload.value);
      case "stepAttemptFailed": {
        const { attempt, error, executionIndex } = payload.value;
        return [this.#line(style.yellow("↻"), this.#nameOf(event, executionIndex), `attempt ${attempt} failed: ${oneLine(error?.message ?? "")}`)];
      }
      case "stepCompleted":
        return this.#ended(style.green("✔"), event, payload.value, branch(payload.value));
      case "stepFailed":
        return this.#ended(style.red("✖"), event, payload.value, style.red(shorten(payload.value.error?.message ?? "")));
      case "stepSkipped": {
        const { reason, need } = payload.value;
        return [
          this.#line(style.dim("○"), oneLine(event.stepId), `skipped: ${reason === "need" ? `${oneLine(need)} did not complete` : "its condition was false"}`),
        ];
      }
      case "stepCancelled": {
        const step = this.#active.end(event, payload.value.executionIndex, false);
        return step === undefined || step.item !== undefined ? [] : [this.#cancelled(step)];
      }
      case "runPaused":
        this.#status = RunStatus.PAUSED;
        return [`${style.yellow("‖")} paused: no step begins before \`npx forge continue ${runId}${hint}\``];
      case "runContinued":
        this.#status = RunStatus.RUNNING;
        return [`${style.green("▸")} continued`];
      case "runQueued":
        this.#status = RunStatus.QUEUED;
        return [`${style.yellow("‖")} waits for its concurrency key`];
      case "runStarted":
        this.#status = RunStatus.RUNNING;
        return [];
      case "runResumed":
        this.#status = RunStatus.RUNNING;
        return [`${style.green("▸")} resumed${payload.value.stepIds.length === 0 ? "" : `: executes ${payload.value.stepIds.map(oneLine).join(", ")} again`}`];
      case "runForked":
        return [`${style.dim("⑂")} from run ${payload.value.origin?.runId ?? ""}, beginning with ${oneLine(payload.value.origin?.stepId ?? "")}`];
      case "runSignalled":
        return [`${style.cyan("⚑")} the signal ${oneLine(payload.value.name)} came`];
      case "runDeadlinePassed":
        return [style.red("the run's time is up: what is under way is stopped")];
      case "runCancelRequested":
        this.#status = RunStatus.CANCELLING;
        return isLive ? [] : ["cancelling"];
      case "runCompleted":
        this.#status = payload.value.withErrors ? RunStatus.COMPLETED_WITH_ERRORS : RunStatus.COMPLETED;
        return [];
      case "runFailed":
        this.#status = RunStatus.FAILED;
        return [];
      case "runCancelled":
        this.#status = RunStatus.CANCELLED;
        return this.#active
          .clear()
          .filter(({ item }) => item === undefined)
          .map((step) => this.#cancelled(step));
      default:
        return this.#ofCalls(event);
    }
  }

  /** Of a session that works for the run; of a run that it started only what its step is busy with, and what asks for a person. */
  #ofAnother(event: Event): string[] {
    if (event.payload.case !== "stepStarted") return this.#ofCalls(event);
    this.#active.busyWith(event, `${oneLine(event.stepId)} of run ${event.stream?.id ?? ""}`);
    const { approvalId, question } = event.payload.value;
    return approvalId === "" ? [] : this.#question(event.stream?.id ?? "", oneLine(question));
  }

  #ofCalls(event: Event): string[] {
    const { payload, stream } = event;
    const { style, isLive, columns, runId } = this.#options;
    switch (payload.case) {
      case "turnOutputDelta":
        if (payload.value.channel.case === "text") this.#active.write(event, payload.value.channel.value, payload.value.offset === 0n);
        return [];
      case "toolRequested": {
        const call = `${payload.value.tool} ${oneLine(payload.value.argumentsJson)}`;
        this.#active.busyWith(event, call);
        return isLive ? [] : [`    ${cut(call, columns() - 4)}`];
      }
      case "toolApprovalRequired":
        return this.#question(stream?.id ?? runId, this.#active.about(event)?.detail ?? "a tool call");
      case "approvalResolved":
      case "approvalExpired":
        return [`    ${style.dim(payload.case === "approvalExpired" ? "nobody answered in time: denied" : "answered")}`];
      case "modelAttemptFailed":
        return [`    ${style.yellow("↻")} the model's attempt ${payload.value.attempt} failed: ${shorten(payload.value.error?.message ?? "")}`];
      default:
        return [];
    }
  }

  /** Whole: nobody should have to answer a call of which they see a part. */
  #question(id: string, what: string): string[] {
    const { style, hint } = this.#options;
    return [`${style.yellow("?")} waits for an answer: ${what}`, `    npx forge approve ${id}${hint}   (or --deny)`];
  }

  #started(event: Event, started: StepStarted): string[] {
    const { step, isNew } = this.#active.start(event, started);
    const { isLive, runId, hint } = this.#options;
    if (!isNew) return [];
    if (started.approvalId !== "") return this.#question(runId, oneLine(started.question));
    const beginning = isLive || step.item !== undefined ? [] : [this.#beginning(step)];
    return started.waitsForSignal === "" ? beginning : [...beginning, `    npx forge signal ${runId} ${oneLine(started.waitsForSignal)}${hint}`];
  }

  #beginning(step: ActiveStep): string {
    const items = step.items === undefined ? "" : `  ${step.items.count} items`;
    return `  ${this.#name(executionName(step))}  ${step.type}${items}${step.waits === "" ? "" : `  ${step.waits}`}`;
  }

  #ended(symbol: string, event: Event, ended: { readonly executionIndex?: number; readonly usage?: Usage }, note: string): string[] {
    const hasFailed = event.payload.case === "stepFailed";
    const step = this.#active.end(event, ended.executionIndex, hasFailed);
    if (step?.item !== undefined && !hasFailed) return [];
    const ms = step === undefined ? 0 : momentMs(event.occurredAt) - step.startedAtMs;
    const cost = ended.usage === undefined ? "" : formatCost(ended.usage);
    const items = step?.items === undefined ? "" : `${step.items.count} items${step.items.failed === 0 ? "" : `, ${step.items.failed} failed`}  `;
    const { style } = this.#options;
    return [
      this.#line(
        symbol,
        step === undefined ? oneLine(event.stepId) : executionName(step),
        `${style.dim(pad(step?.type ?? "", 8))}  ${pad(formatDuration(ms), 7, "right")}  ${pad(cost, 7, "right")}  ${items}${note}`,
      ),
    ];
  }

  #cancelled(step: ActiveStep): string {
    return this.#line(this.#options.style.yellow("■"), executionName(step), "cancelled");
  }

  #nameOf(event: Event, executionIndex: number | undefined): string {
    const step = this.#active.values().find(({ index, id }) => id === event.stepId && (executionIndex === undefined || index === executionIndex));
    return step === undefined ? oneLine(event.stepId) : executionName(step);
  }

  #line(symbol: string, name: string, rest: string): string {
    return `${symbol} ${this.#name(name)}  ${rest}`.trimEnd();
  }

  #name(name: string): string {
    return pad(cut(name, this.#nameColumns), this.#nameColumns);
  }
}

/** The branch that was taken, where there was one to take. */
function branch({ nextStepId, nextSource, overwrote }: StepCompleted): string {
  const taken = nextSource === "sequence" || nextSource === "end" || nextSource === "" ? [] : [`→ ${oneLine(nextStepId) || "end"}`];
  return [...taken, ...(overwrote ? ["(in place of another output)"] : [])].join(" ");
}

function shorten(message: string): string {
  return cut(oneLine(message), ERROR_COLUMNS_MIN);
}
