import { type Run, StepStatus } from "@forge/protocol/workflow";
import { END, type GraphEdge, type GraphNode, runGraph, timeline } from "@forge/workflow";
import { formatDuration } from "../output/format-time.ts";
import { formatCost, formatTokens } from "../output/format-usage.ts";
import { stepSymbol } from "../output/step-symbol.ts";
import type { Style } from "../output/style.ts";
import { cut, oneLine, pad, widthOf } from "../output/text.ts";
import { colouredStatus, runDurationMs } from "../run/run-summary.ts";

/** The workflow's graph from top to bottom, with what became of each step and which ways were taken. */
export function asciiLines(run: Run, style: Style, columns: number): string[] {
  const { nodes, edges } = runGraph(run);
  return [
    headLine(run, style),
    "",
    ...nodes.flatMap((node, index) => [
      cut(nodeLine(node, style), columns),
      ...edges.filter(({ from }) => from === node.id).map((edge) => cut(edgeLine(edge, nodes[index + 1]?.id ?? END, style), columns)),
    ]),
    `${style.dim("●")} end`,
  ];
}

function headLine(run: Run, style: Style): string {
  return `${style.bold(oneLine(`${run.workflowId}@${run.workflowVersion}`))}  ${colouredStatus(run.status, style)}  ${formatDuration(runDurationMs(run, Date.now()))}  ${formatCost(run.usage)}`;
}

function nodeLine({ id, type, executions }: GraphNode, style: Style): string {
  const last = executions.at(-1);
  if (last === undefined) return style.dim(`○ ${oneLine(id)}  ${type}  not reached`);
  const times = executions.length > 1 ? `  ${executions.length} times` : "";
  const usage = last.usage === undefined ? "" : `  ${formatTokens(last.usage)} tokens  ${formatCost(last.usage)}`;
  return `${stepSymbol(last.status, style)} ${style.bold(oneLine(id))}  ${style.dim(type)}  ${formatDuration(Number(last.durationMs))}${times}${usage}`;
}

function edgeLine({ to, source, when, taken }: GraphEdge, following: string, style: Style): string {
  const condition = source === "sequence" ? "" : source === "default" ? "  otherwise" : `  if ${oneLine(when)}`;
  const target = to === following ? "" : `  to ${oneLine(to)}`;
  const times = taken > 1 ? `  ${taken} times` : "";
  return taken > 0 ? `${style.cyan("┃")}${condition}${target}${times}` : style.dim(`┊${condition}${target}`);
}

const NAME_COLUMNS_MAX = 28;
const TOOK_COLUMNS = 9;
const BAR_COLUMNS_MIN = 10;

/** When each step ran, as bars over the run's time. */
export function timelineLines(run: Run, style: Style, columns: number): string[] {
  const { bars, totalMs } = timeline(run, Date.now());
  const names = Math.min(NAME_COLUMNS_MAX, Math.max(4, ...bars.map(({ step }) => widthOf(oneLine(step.stepId)))));
  const width = Math.max(BAR_COLUMNS_MIN, columns - names - TOOK_COLUMNS - 4);
  const rows = bars.map(({ step, fromMs, toMs }) => {
    const from = Math.min(width - 1, Math.floor((fromMs / totalMs) * width));
    const length = Math.max(1, Math.min(width - from, Math.round(((toMs - fromMs) / totalMs) * width)));
    const bar = `${" ".repeat(from)}${style[colourOf(step.status)]("█".repeat(length))}${" ".repeat(width - from - length)}`;
    return `${pad(cut(oneLine(step.stepId), names), names)} ${style.dim("▕")}${bar}${style.dim("▏")}${pad(formatDuration(toMs - fromMs), TOOK_COLUMNS, "right")}`;
  });
  return [headLine(run, style), "", ...rows];
}

function colourOf(status: StepStatus): "green" | "red" | "yellow" {
  if (status === StepStatus.COMPLETED) return "green";
  return status === StepStatus.FAILED ? "red" : "yellow";
}
