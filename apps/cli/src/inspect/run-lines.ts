import { type Run, type StepExecution, StepStatus, StepStatusSchema, StepTypeSchema } from "@forge/protocol/workflow";
import { errorLines } from "../output/error-report.ts";
import { formatDuration, formatMoment, momentMs } from "../output/format-time.ts";
import { formatCost, formatTokens } from "../output/format-usage.ts";
import { enumName } from "../output/message-json.ts";
import { stepSymbol } from "../output/step-symbol.ts";
import type { Style } from "../output/style.ts";
import { cut, oneLine, pad } from "../output/text.ts";
import { previewValue, showValue } from "../output/value.ts";
import { colouredStatus, runDurationMs } from "../run/run-summary.ts";

const LABEL_COLUMNS = 10;
const LINES_MAX = 40;

export interface RunLinesOptions {
  readonly style: Style;
  readonly columns: number;
  /** What a later command must say to mean the same project. */
  readonly hint: string;
}

/** Of each list so many items are shown one by one: thousands are shown by what became of them. */
const ITEMS_MAX = 20;

/** A run and its steps, for people. */
export function runLines(run: Run, options: RunLinesOptions): string[] {
  const { style, columns } = options;
  const row = (label: string, text: string): string[] =>
    text === "" ? [] : [`${style.dim(pad(label, LABEL_COLUMNS))}${cut(oneLine(text), columns - LABEL_COLUMNS)}`];
  const labels = Object.entries(run.labels).map(([key, value]) => `${key}=${value}`);
  const { parent, origin } = run;
  return [
    `${style.bold(`${run.workflowId}@${run.workflowVersion}`)}  ${colouredStatus(run.status, style)}`,
    ...row("Run", run.runId),
    ...row(
      "Started",
      `${formatMoment(momentMs(run.createdAt))}, ${run.completedAt === undefined ? "for" : "took"} ${formatDuration(runDurationMs(run, Date.now()))}`,
    ),
    ...row("For", parent === undefined ? "" : `step ${parent.stepId} of run ${parent.runId}`),
    ...row("Forked", origin === undefined ? "" : `from run ${origin.runId} before ${origin.stepId}; its history through event ${origin.seq} is shared`),
    ...row("Used", `${formatTokens(run.usage)} tokens, ${formatCost(run.usage)}`),
    ...row("Labels", labels.join(" ")),
    ...row(
      "Signals",
      run.waitingSignals.length === 0 ? "" : `${run.waitingSignals.join(", ")} (no step has taken ${run.waitingSignals.length === 1 ? "it" : "them"} yet)`,
    ),
    ...row("Workflow", `sha256 ${run.workflowHash.slice(0, 16)}`),
    ...row("Input", previewValue(run.inputs)),
    "",
    ...shownSteps(run, style).flatMap((step) => (typeof step === "string" ? [step, ""] : [...stepLines(step, run, options), ""])),
    ...(run.error === undefined ? [] : errorLines(run.error, style)),
    ...(run.output === undefined ? [] : [style.bold("Output"), ...bounded(showValue(run.output).split("\n"))]),
  ];
}

/** The steps of a run with all that they got and gave. */
export function stepsLines(run: Run, options: RunLinesOptions): string[] {
  const { style } = options;
  return run.steps.flatMap((step) => [
    ...stepLines({ ...step, input: {}, output: undefined }, run, options),
    ...Object.entries(step.input).flatMap(([name, value]) => block(`input ${oneLine(name)}`, showValue(value), style)),
    ...(step.output === undefined ? [] : block("output", showValue(step.output), style)),
    "",
  ]);
}

/** Of each list the first items; how many are left out is told at the end. */
function shownSteps(run: Run, style: Style): (StepExecution | string)[] {
  const counts = new Map<number, number>();
  const left = new Map<number, number>();
  const shown: (StepExecution | string)[] = [];
  for (const step of run.steps) {
    const group = step.groupIndex;
    const count = group === undefined ? 0 : (counts.get(group) ?? 0) + 1;
    if (group !== undefined) counts.set(group, count);
    if (group === undefined || count <= ITEMS_MAX) shown.push(step);
    else left.set(group, (left.get(group) ?? 0) + 1);
  }
  for (const [group, count] of left) {
    const stepId = run.steps.find(({ executionIndex }) => executionIndex === group)?.stepId ?? "";
    shown.push(style.dim(`… ${count} more items of ${oneLine(stepId)}: add --steps`));
  }
  return shown;
}

function block(title: string, text: string, style: Style): string[] {
  return [`  ${style.dim(title)}`, ...bounded(text.split("\n")).map((line) => `    ${line}`)];
}

function stepLines(step: StepExecution, run: Run, { style, columns, hint }: RunLinesOptions): string[] {
  const status = enumName(StepStatusSchema, step.status);
  const running = step.finishedAt === undefined;
  const ms = running && step.startedAt !== undefined ? Date.now() - momentMs(step.startedAt) : Number(step.durationMs);
  const type = enumName(StepTypeSchema, step.stepType).toLowerCase();
  const attempts = step.attemptCount > 1 ? `  ${step.attemptCount} attempts` : "";
  const usage = step.usage === undefined ? "" : `  ${formatTokens(step.usage)} tokens  ${formatCost(step.usage)}`;
  const row = (label: string, text: string): string[] =>
    text === "" ? [] : [`  ${style.dim(pad(label, LABEL_COLUMNS - 2))}${cut(text, columns - LABEL_COLUMNS)}`];
  const error = step.error ?? step.lastError;
  const inputs = Object.entries(step.input).map(([name, value]) => `${name}=${previewValue(value)}`);
  const took = step.status === StepStatus.SKIPPED ? "" : `  ${formatDuration(ms)}`;
  return [
    `${stepSymbol(step.status, style)} ${style.bold(stepName(step))}  ${style.dim(type)}  ${status}${took}${attempts}${usage}${step.inherited ? style.dim("  from the run that this one forked") : ""}`,
    ...row("items", itemsText(step, run)),
    ...row("skipped", oneLine(step.skipReason)),
    ...(running ? waitRows(step, run.runId, hint, row) : []),
    ...row("input", oneLine(inputs.join("  "))),
    ...row("output", previewValue(step.output)),
    ...(error === undefined ? [] : row(step.error === undefined ? "retried" : "error", oneLine(`${error.message} (${error.reason})`))),
    ...row("prompt", oneLine(step.promptVariant)),
    ...row("session", step.sessionId),
    ...row("run", step.childRunId),
    ...row("next", step.nextSource === "" ? "" : `${oneLine(step.nextStepId) || "end"} (${step.nextSource})`),
  ];
}

/** A step's id; an item has its place in the list. */
function stepName({ stepId, itemIndex }: StepExecution): string {
  return itemIndex === undefined ? oneLine(stepId) : `${oneLine(stepId)}[${itemIndex}]`;
}

function itemsText({ itemCount, executionIndex }: StepExecution, run: Run): string {
  if (itemCount === undefined) return "";
  const items = run.steps.filter(({ groupIndex }) => groupIndex === executionIndex);
  const count = (wanted: StepStatus): number => items.filter(({ status }) => status === wanted).length;
  const failed = count(StepStatus.FAILED);
  return `${count(StepStatus.COMPLETED)} of ${itemCount} completed${failed === 0 ? "" : `, ${failed} failed`}`;
}

/** What a step waits for, and what a person can do about it. */
function waitRows(
  { waitsUntil, waitsForSignal, approvalId }: StepExecution,
  runId: string,
  hint: string,
  row: (label: string, text: string) => string[],
): string[] {
  const until = waitsUntil === undefined ? "" : formatMoment(momentMs(waitsUntil));
  if (waitsForSignal !== "") {
    const most = until === "" ? "" : `, at most until ${until}`;
    return [...row("for", `the signal ${oneLine(waitsForSignal)}${most}`), ...row("", `npx forge signal ${runId} ${oneLine(waitsForSignal)}${hint}`)];
  }
  if (approvalId !== "") return [...row("for", "an answer"), ...row("", `npx forge approve ${runId} ${approvalId}${hint}`)];
  return until === "" ? [] : row("until", until);
}

function bounded(lines: readonly string[]): string[] {
  return lines.length <= LINES_MAX ? [...lines] : [...lines.slice(0, LINES_MAX), `… ${lines.length - LINES_MAX} more lines: add --json`];
}
