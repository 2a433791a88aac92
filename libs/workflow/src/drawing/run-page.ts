import type { JsonValue } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { addUsage } from "@forge/domain";
import type { Usage } from "@forge/protocol/common";
import { type Run, RunStatusSchema, type StepExecution, StepStatus, StepStatusSchema, StepType } from "@forge/protocol/workflow";
import { type ReadValue, type StateVersion, stateHistory } from "../history/state-history.ts";
import { formatDuration } from "./format-duration.ts";
import { graphSvg } from "./graph-svg.ts";
import { escapeHtml, shorten } from "./html-text.ts";
import { PAGE_STYLE } from "./page-style.ts";
import { runGraph } from "./run-graph.ts";
import { type Timeline, type TimelineBar, timeline } from "./timeline.ts";

/** Characters of one value on the page; the whole is in `forge inspect --json`. */
const VALUE_MAX = 4_000;
/** Changes of one step on the page. */
const CHANGES_MAX = 200;
/** Items of one list in the timeline. */
const ITEMS_MAX = 200;

/** A run as one HTML file that needs nothing else: its graph, its timeline, what each step changed, and what it cost. It holds no script, and everything that the run brought is escaped. */
export function runPage(run: Run, read: ReadValue, nowMs: number): string {
  const title = `${run.workflowId}@${run.workflowVersion} ${run.runId}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(`${run.workflowId}@${run.workflowVersion}`)} <span class="status ${statusName(run).toLowerCase()}">${statusName(run)}</span></h1>
${facts(run, nowMs)}
${run.error === undefined ? "" : `<p class="error">${escapeHtml(run.error.message)} <code>${escapeHtml(run.error.reason)}</code></p>`}
</header>
<section><h2>Graph</h2><div class="scroll">${graphSvg(runGraph(run))}</div></section>
<section><h2>Timeline</h2>${timelineRows(timeline(run, nowMs))}</section>
<section><h2>State</h2>${stateHistory(run, read).map(versionPart).join("\n")}</section>
<section><h2>Cost</h2>${costTable(run)}</section>
</body>
</html>
`;
}

function statusName(run: Run): string {
  return (RunStatusSchema.value[run.status]?.name ?? "").replace("RUN_STATUS_", "");
}

function facts(run: Run, nowMs: number): string {
  const rows: [string, string][] = [
    ["Run", run.runId],
    ["Started", run.createdAt === undefined ? "" : timestampDate(run.createdAt).toISOString()],
    ["Took", formatDuration(timeline(run, nowMs).totalMs)],
    ["Steps", stepCount(run)],
    ["Cost", cost(run.usage)],
    ["Workflow", `sha256 ${run.workflowHash}`],
  ];
  return `<dl>${rows
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`)
    .join("")}</dl>`;
}

/** Executions of steps; items of lists apart. */
function stepCount({ steps }: Run): string {
  const items = steps.filter(({ groupIndex }) => groupIndex !== undefined).length;
  const skipped = steps.filter(({ status }) => status === StepStatus.SKIPPED).length;
  return `${steps.length - items - skipped}${items === 0 ? "" : `, ${items} items`}${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

function timelineRows({ bars, totalMs }: Timeline): string {
  const rows: string[] = [];
  const items = Map.groupBy(bars, ({ step }) => step.groupIndex);
  for (const bar of bars) {
    if (bar.step.groupIndex !== undefined) continue;
    rows.push(timelineRow(bar, totalMs));
    const own = bar.step.itemCount === undefined ? [] : (items.get(bar.step.executionIndex) ?? []);
    if (own.length === 0) continue;
    const more = own.length > ITEMS_MAX ? `<p class="count">… ${own.length - ITEMS_MAX} more items</p>` : "";
    const shown = own.slice(0, ITEMS_MAX).map((item) => timelineRow(item, totalMs));
    rows.push(
      `<details class="items"${own.length > 12 ? "" : " open"}><summary>${own.length} of ${bar.step.itemCount} items</summary>${shown.join("\n")}${more}</details>`,
    );
  }
  return `<div class="timeline">${rows.join("\n")}</div>`;
}

function timelineRow({ step, label, fromMs, toMs }: TimelineBar, totalMs: number): string {
  const percent = (ms: number): string => ((ms / totalMs) * 100).toFixed(3);
  const status = stepStatus(step);
  const attempts = step.attemptCount > 1 ? `, ${step.attemptCount} attempts` : "";
  const text = `${formatDuration(toMs - fromMs)}${attempts}`;
  const kind = step.stepType === StepType.WAIT ? " wait" : step.itemCount === undefined ? "" : " list";
  return `<div class="row"><div class="label"><span class="name">${escapeHtml(label)}</span></div><div class="track"><div class="bar ${status.toLowerCase()}${kind}" style="left:${percent(fromMs)}%;width:max(2px,${percent(toMs - fromMs)}%)" title="${escapeHtml(`${label}: ${status}, ${text}, from ${formatDuration(fromMs)}`)}"></div></div><div class="took">${escapeHtml(text)}</div></div>`;
}

function stepStatus(step: StepExecution): string {
  return (StepStatusSchema.value[step.status]?.name ?? "").replace("STEP_STATUS_", "");
}

function versionPart({ version, step, changes }: StateVersion): string {
  const shown = changes.slice(0, CHANGES_MAX);
  const more = changes.length > shown.length ? `<p>… ${changes.length - shown.length} more changes</p>` : "";
  const name = step === undefined ? "the start" : step.stepId;
  const status = step === undefined ? "" : ` <span class="status ${stepStatus(step).toLowerCase()}">${stepStatus(step)}</span>`;
  const rows = shown.map(({ marker, path, before, after }) => {
    const value = marker === "~" ? `${text(before)} → ${text(after)}` : text(marker === "+" ? after : before);
    return `<li class="${{ "+": "added", "-": "removed", "~": "changed" }[marker]}"><b>${marker}</b> <code>${escapeHtml(path)}</code> <span>${escapeHtml(value)}</span></li>`;
  });
  const error = step?.error === undefined ? "" : `<p class="error">${escapeHtml(step.error.message)}</p>`;
  return `<details${version === 0 ? "" : " open"}><summary>${version} <b>${escapeHtml(name)}</b>${status} <span class="count">${changes.length} ${changes.length === 1 ? "change" : "changes"}</span></summary>${error}<ul>${rows.join("")}</ul>${more}</details>`;
}

function text(value: JsonValue | undefined): string {
  return shorten(JSON.stringify(value) ?? "", VALUE_MAX);
}

function costTable(run: Run): string {
  const items = Map.groupBy(run.steps, ({ groupIndex }) => groupIndex);
  const rows = run.steps
    .filter(({ groupIndex, status }) => groupIndex === undefined && status !== StepStatus.SKIPPED)
    .map((step) => {
      const own = step.itemCount === undefined ? [] : (items.get(step.executionIndex) ?? []);
      const usage = step.usage ?? own.reduce<Usage | undefined>((sum, item) => addUsage(sum, item.usage), undefined);
      const inCall = [step, ...own].reduce((sum, { handlerDurationMs, toolDurationMs }) => sum + Number(handlerDurationMs + toolDurationMs), 0);
      const count = step.itemCount === undefined ? "" : ` <span class="count">${step.itemCount} items</span>`;
      return `<tr><td>${escapeHtml(step.stepId)}${count}</td><td>${tokens(usage)}</td><td>${cost(usage)}</td><td>${step.finishedAt === undefined ? "" : formatDuration(Number(step.durationMs))}</td><td>${inCall === 0 ? "" : formatDuration(inCall)}</td></tr>`;
    });
  return `<table><thead><tr><th>step</th><th>tokens</th><th>cost</th><th>took</th><th>of it in the call</th></tr></thead><tbody>${rows.join("")}</tbody><tfoot><tr><td>run</td><td>${tokens(run.usage)}</td><td>${cost(run.usage)}</td><td></td><td></td></tr></tfoot></table>`;
}

function tokens(usage: Usage | undefined): string {
  return usage === undefined ? "" : String(usage.inputTokens + usage.outputTokens);
}

function cost(usage: Usage | undefined): string {
  if (usage === undefined) return "";
  return usage.costMicroUsd === undefined ? "no price known" : `$${(Number(usage.costMicroUsd) / 1e6).toFixed(6)}`;
}
