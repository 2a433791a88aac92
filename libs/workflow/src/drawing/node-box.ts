import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type StepExecution, StepStatus } from "@forge/protocol/workflow";
import { formatDuration } from "./format-duration.ts";
import { escapeHtml, shorten } from "./html-text.ts";
import type { GraphNode } from "./run-graph.ts";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Items whose times are in a node's tooltip. */
const TIMES_MAX = 50;

const CLASSES: Readonly<Record<StepStatus, string>> = {
  [StepStatus.UNSPECIFIED]: "",
  [StepStatus.RUNNING]: "running",
  [StepStatus.RETRYING]: "running",
  [StepStatus.COMPLETED]: "completed",
  [StepStatus.FAILED]: "failed",
  [StepStatus.CANCELLED]: "cancelled",
  [StepStatus.SKIPPED]: "skipped",
  [StepStatus.WAITING]: "waiting",
};

/** A step with what became of it in three lines; one with a list looks like several. */
export function nodeBox(node: GraphNode, { x, y, width, height }: Box): string {
  const last = node.executions.at(-1);
  const shape = `rx="6" width="${width}" height="${height}"`;
  const behind = last?.itemCount === undefined ? "" : `<rect x="${x + 5}" y="${y + 5}" ${shape}/>`;
  const line = (text: string, kind: string, dy: number, characterWidth: number): string =>
    text === "" ? "" : `<text x="${x + 14}" y="${y + dy}" class="${kind}">${escapeHtml(shorten(text, Math.floor((width - 24) / characterWidth)))}</text>`;
  return `<g class="step ${last === undefined ? "unreached" : CLASSES[last.status]}"><title>${escapeHtml(tooltip(node, last))}</title>${behind}<rect x="${x}" y="${y}" ${shape}/>${line(node.id, "name", 20, 7.5)}${line(`${node.type}${node.when === "" ? "" : `, if ${node.when}`}`, "type", 36, 6.1)}${line(facts(node, last), "type", 51, 6)}</g>`;
}

function facts({ executions, items }: GraphNode, last: StepExecution | undefined): string {
  if (last === undefined) return "not reached";
  if (last.status === StepStatus.SKIPPED) return `skipped${last.skipReason === "when" ? ": when is false" : last.skipReason.replace("need:", ": it needs ")}`;
  const times = executions.length > 1 ? `${executions.length} times` : "";
  const list = last.itemCount === undefined ? "" : ofItems(last.itemCount, items);
  return [list, waiting(last), times, last.inherited ? "from the other run" : ""].filter((fact) => fact !== "").join(", ");
}

/** How many, how they ended, and how long the quickest and the slowest took. */
function ofItems(count: number, items: readonly StepExecution[]): string {
  const failed = items.filter(({ status }) => status === StepStatus.FAILED).length;
  const ended = items.filter(({ finishedAt }) => finishedAt !== undefined);
  const took = ended.map(({ durationMs }) => Number(durationMs)).toSorted((a, b) => a - b);
  const [quickest, slowest] = [took[0], took.at(-1)];
  const range =
    quickest === undefined || slowest === undefined ? "" : `, ${quickest === slowest ? "" : `${formatDuration(quickest)} to `}${formatDuration(slowest)}`;
  const number = `${ended.length < count ? `${ended.length} of ` : ""}${count} ${count === 1 ? "item" : "items"}`;
  return `${number}${failed === 0 ? "" : `, ${failed} failed`}${range}`;
}

/** For what, and until when. */
function waiting({ status, waitsUntil, waitsForSignal, approvalId }: StepExecution): string {
  const what = waitsForSignal === "" ? (approvalId === "" ? "" : "for a person") : `for signal ${waitsForSignal}`;
  if (status !== StepStatus.WAITING || waitsUntil === undefined) return what;
  const until = `until ${timestampDate(waitsUntil).toISOString().slice(0, 16).replace("T", " ")}Z`;
  return what === "" ? until : `${what}, ${until}`;
}

function tooltip({ id, when, items }: GraphNode, last: StepExecution | undefined): string {
  const lines = [id];
  if (when !== "") lines.push(`when ${when}`);
  if (last?.skipReason) lines.push(`skipped: ${last.skipReason}`);
  if (last?.childRunId) lines.push(`run ${last.childRunId}`);
  for (const { itemIndex, status, durationMs } of items.slice(0, TIMES_MAX))
    lines.push(`[${itemIndex ?? 0}] ${CLASSES[status]} ${formatDuration(Number(durationMs))}`);
  if (items.length > TIMES_MAX) lines.push(`… ${items.length - TIMES_MAX} more`);
  return lines.join("\n");
}
