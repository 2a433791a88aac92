import { type Run, type StepExecution, StepStatusSchema, StepTypeSchema } from "@forge/protocol/workflow";
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

/** A run and its steps, for people. */
export function runLines(run: Run, style: Style, columns: number): string[] {
  const row = (label: string, text: string): string => `${style.dim(pad(label, LABEL_COLUMNS))}${cut(text, columns - LABEL_COLUMNS)}`;
  const labels = Object.entries(run.labels).map(([key, value]) => `${key}=${value}`);
  return [
    `${style.bold(`${run.workflowId}@${run.workflowVersion}`)}  ${colouredStatus(run.status, style)}`,
    row("Run", run.runId),
    row(
      "Started",
      `${formatMoment(momentMs(run.createdAt))}, ${run.completedAt === undefined ? "for" : "took"} ${formatDuration(runDurationMs(run, Date.now()))}`,
    ),
    row("Used", `${formatTokens(run.usage)} tokens, ${formatCost(run.usage)}`),
    ...(labels.length === 0 ? [] : [row("Labels", oneLine(labels.join(" ")))]),
    row("Workflow", `sha256 ${run.workflowHash.slice(0, 16)}`),
    row("Input", previewValue(run.inputs)),
    "",
    ...run.steps.flatMap((step) => [...stepLines(step, style, columns), ""]),
    ...(run.error === undefined ? [] : errorLines(run.error, style)),
    ...(run.output === undefined ? [] : [style.bold("Output"), ...bounded(showValue(run.output).split("\n"))]),
  ];
}

/** The steps of a run with all that they got and gave. */
export function stepsLines(run: Run, style: Style, columns: number): string[] {
  return run.steps.flatMap((step) => [
    ...stepLines({ ...step, input: {}, output: undefined }, style, columns),
    ...Object.entries(step.input).flatMap(([name, value]) => block(`input ${oneLine(name)}`, showValue(value), style)),
    ...(step.output === undefined ? [] : block("output", showValue(step.output), style)),
    "",
  ]);
}

function block(title: string, text: string, style: Style): string[] {
  return [`  ${style.dim(title)}`, ...bounded(text.split("\n")).map((line) => `    ${line}`)];
}

function stepLines(step: StepExecution, style: Style, columns: number): string[] {
  const status = enumName(StepStatusSchema, step.status);
  const running = step.finishedAt === undefined;
  const ms = running ? Date.now() - momentMs(step.startedAt) : Number(step.durationMs);
  const type = enumName(StepTypeSchema, step.stepType).toLowerCase();
  const attempts = step.attemptCount > 1 ? `  ${step.attemptCount} attempts` : "";
  const usage = step.usage === undefined ? "" : `  ${formatTokens(step.usage)} tokens  ${formatCost(step.usage)}`;
  const row = (label: string, text: string): string[] =>
    text === "" ? [] : [`  ${style.dim(pad(label, LABEL_COLUMNS - 2))}${cut(text, columns - LABEL_COLUMNS)}`];
  const error = step.error ?? step.lastError;
  const inputs = Object.entries(step.input).map(([name, value]) => `${name}=${previewValue(value)}`);
  return [
    `${stepSymbol(step.status, style)} ${style.bold(step.stepId)}  ${style.dim(type)}  ${status}  ${formatDuration(ms)}${attempts}${usage}`,
    ...row("input", oneLine(inputs.join("  "))),
    ...row("output", previewValue(step.output)),
    ...(error === undefined ? [] : row(step.error === undefined ? "retried" : "error", oneLine(`${error.message} (${error.reason})`))),
    ...row("session", step.sessionId),
    ...row("next", step.nextSource === "" ? "" : `${step.nextStepId || "end"} (${step.nextSource})`),
  ];
}

function bounded(lines: readonly string[]): string[] {
  return lines.length <= LINES_MAX ? [...lines] : [...lines.slice(0, LINES_MAX), `… ${lines.length - LINES_MAX} more lines: add --json`];
}
