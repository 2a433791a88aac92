import type { FileWorkerEvent } from "@forge/sdk/file-worker";
import { errorLines, toForgeError } from "../output/error-report.ts";
import { formatClock, formatDuration } from "../output/format-time.ts";
import type { Style } from "../output/style.ts";
import type { Terminal } from "../output/terminal.ts";
import { oneLine, pad, safeText, widthOf } from "../output/text.ts";
import { type CallFacts, callFacts } from "./call-facts.ts";
import { servedNames } from "./served-names.ts";
import type { WorkerStart, WorkerView } from "./worker-view.ts";

const SHORT_ID_CHARACTERS = 8;
const NAME_COLUMNS_MAX = 32;
const DURATION_COLUMNS = 7;

/** Lines for people. */
export class TextWorkerView implements WorkerView {
  readonly #terminal: Terminal;
  readonly #file: string;
  #start: WorkerStart | undefined;
  #served = "";
  #nameColumns = 0;
  /** Told last, with nothing after it: who waits for a server need not read that again and again. */
  #lastProblem = "";

  constructor(terminal: Terminal, file: string) {
    this.#terminal = terminal;
    this.#file = file;
  }

  onStart(worker: WorkerStart): void {
    this.#start = worker;
  }

  onEvent(event: FileWorkerEvent): void {
    const { style } = this.#terminal;
    if (event.kind !== "problem") this.#lastProblem = "";
    switch (event.kind) {
      case "serving":
        this.#onServing(event);
        return;
      case "called":
        this.#onCalled(callFacts(event));
        return;
      case "waiting":
        this.#line(
          style.yellow("…"),
          `${this.#file} serves something else now, and waits for ${event.calls === 1 ? "a call that runs" : `${event.calls} calls that run`}`,
        );
        return;
      case "exited":
        this.#line(style.red("✖"), `process ${event.pid} ended ${event.how}; it is started again in ${formatDuration(event.restartMs)}`);
        return;
      case "stuck":
        this.#line(style.yellow("■"), `process ${event.pid} is ended: a call has not stopped; another process takes its place`);
        return;
      case "problem":
        this.onProblem(event.error);
        return;
      case "log":
        this.#terminal.print(`${levelOf(event.level, style)}${safeText(event.message)}`);
        return;
      case "output":
        if (event.stream === "stdout") this.#terminal.print(safeText(event.line));
        else this.#terminal.note(safeText(event.line));
    }
  }

  onMoved(url: string): void {
    this.#line(this.#terminal.style.cyan("↻"), `the project's server is at ${url} now`);
  }

  onProblem(error: unknown): void {
    const { detail } = toForgeError(error);
    if (detail.message === this.#lastProblem) return;
    this.#lastProblem = detail.message;
    for (const line of errorLines(detail, this.#terminal.errorStyle)) this.#terminal.note(line);
  }

  onEnd(): void {
    this.#terminal.note("Ending, after what is running. Again: at once.");
  }

  onReplaced(name: string): void {
    this.#terminal.note(`Another worker has joined as ${name}: this one ends.`);
  }

  #onServing({ capabilities, isReload }: Extract<FileWorkerEvent, { kind: "serving" }>): void {
    const { style } = this.#terminal;
    const { name, queues, url, reload } = this.#start as WorkerStart;
    const { tools, functions, models, hooks } = servedNames(capabilities);
    const rows = [
      ["Tools", tools],
      ["Functions", functions],
      ["Models", models],
      ["Hooks", hooks],
    ] as const;
    const lines = rows.filter(([, names]) => names.length > 0).map(([title, names]) => `  ${pad(title, 10)} ${names.join(", ")}`);
    this.#nameColumns = Math.min(NAME_COLUMNS_MAX, Math.max(...capabilities.map((capability) => widthOf(capability.name))));
    const isSame = lines.join("\n") === this.#served;
    this.#served = lines.join("\n");
    if (isReload) {
      this.#line(style.cyan("↻"), `${this.#file} is served anew${isSame ? "" : ":"}`);
      if (!isSame) for (const line of lines) this.#terminal.print(line);
      return;
    }
    this.#terminal.print(`${style.bold(name)} serves ${this.#file}`);
    for (const line of lines) this.#terminal.print(line);
    this.#terminal.print(`  ${pad("Queues", 10)} ${queues.join(", ")}`);
    this.#terminal.print(`  ${pad("Server", 10)} ${url}`);
    this.#terminal.print(`${reload ? "A change of the file is served at once. " : ""}Ctrl-C ends it, after what is running.`);
  }

  #onCalled({ name, outcome, error, durationMs, sessionId, runId, stepId }: CallFacts): void {
    const { style } = this.#terminal;
    const marks = { completed: style.green("✔"), failed: style.red("✖"), cancelled: style.yellow("■"), unknown: style.red("?") };
    const where = sessionId !== undefined ? `session ${short(sessionId)}` : runId !== undefined ? `run ${short(runId)} ${stepId ?? ""}`.trimEnd() : "";
    const why = outcome === "completed" ? "" : outcome === "cancelled" ? "cancelled" : oneLine(error?.message ?? outcome);
    const said = [style.dim(where), outcome === "cancelled" ? style.yellow(why) : style.red(why)].filter((part) => oneLine(part) !== "").join("  ");
    this.#line(marks[outcome], `${pad(name, this.#nameColumns)}  ${pad(formatDuration(durationMs), DURATION_COLUMNS, "right")}  ${said}`.trimEnd());
  }

  #line(mark: string, text: string): void {
    this.#terminal.print(`${this.#terminal.style.dim(formatClock(Date.now()))}  ${mark} ${text}`);
  }
}

/** The end of an id: fresh ids of one moment begin alike. */
function short(id: string): string {
  return id.slice(-SHORT_ID_CHARACTERS);
}

function levelOf(level: "debug" | "info" | "warn" | "error", style: Style): string {
  switch (level) {
    case "debug":
      return `${style.dim("debug:")} `;
    case "info":
      return "";
    case "warn":
      return `${style.yellow("warning:")} `;
    case "error":
      return `${style.red("error:")} `;
  }
}
