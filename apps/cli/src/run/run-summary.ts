import { type Run, RunStatus, RunStatusSchema, type StepExecution, StepStatusSchema, StepTypeSchema } from "@forge/protocol/workflow";
import { formatDuration, momentMs } from "../output/format-time.ts";
import { formatCost, formatTokens } from "../output/format-usage.ts";
import { enumName } from "../output/message-json.ts";
import type { Style } from "../output/style.ts";
import { table } from "../output/table.ts";
import { objectOf } from "../output/value.ts";

/** The status in the colour that it deserves. */
export function colouredStatus(status: RunStatus, style: Style): string {
  const name = enumName(RunStatusSchema, status);
  if (status === RunStatus.COMPLETED) return style.green(name);
  if (status === RunStatus.FAILED) return style.red(name);
  return style.yellow(name);
}

/** From the run's creation to its end, or until now. */
export function runDurationMs(run: Run, nowMs: number): number {
  return (run.completedAt === undefined ? nowMs : momentMs(run.completedAt)) - momentMs(run.createdAt);
}

/** A line for each execution of a step, and one for all of them. */
export function stepTable(run: Run, style: Style, columns: number): string[] {
  // The items of a list are told by it: a list may have thousands.
  const rows = run.steps
    .filter(({ groupIndex }) => groupIndex === undefined)
    .map((step) => [
      step.itemCount === undefined ? step.stepId : `${step.stepId} (${step.itemCount} items)`,
      enumName(StepTypeSchema, step.stepType).toLowerCase(),
      enumName(StepStatusSchema, step.status),
      String(step.attemptCount),
      formatDuration(Number(step.durationMs)),
      formatTokens(step.usage),
      formatCost(step.usage),
    ]);
  const total = ["total", "", "", "", formatDuration(runDurationMs(run, Date.now())), formatTokens(run.usage), formatCost(run.usage)];
  const [titles = "", ...lines] = table(
    [
      { title: "STEP", shrinks: true },
      { title: "TYPE" },
      { title: "STATUS" },
      { title: "TRIES", align: "right" },
      { title: "TIME", align: "right" },
      { title: "TOKENS", align: "right" },
      { title: "COST", align: "right" },
    ],
    [...rows, total],
    columns,
  );
  return [style.dim(titles), ...lines.slice(0, -1), style.bold(lines.at(-1) as string)];
}

/** Files that the run's steps wrote, as the tool named them. */
export function writtenFiles(run: Run): string[] {
  const tools = new Map(run.definition?.steps.map(({ id, kind }) => [id, kind.case === "tool" ? kind.value.tool : ""]));
  return Array.from(new Set(run.steps.flatMap((step) => (tools.get(step.stepId) === "tools.file" ? (writtenFile(step) ?? []) : []))));
}

function writtenFile({ output }: StepExecution): string | undefined {
  const written = objectOf(output);
  return written?.bytes_written !== undefined && typeof written.path === "string" ? written.path : undefined;
}
