import path from "node:path";
import { EventSchema } from "@forge/protocol/event";
import { type Run, RunSchema, RunStatus, type WorkflowDefinition } from "@forge/protocol/workflow";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { errorLines } from "../output/error-report.ts";
import { formatDuration } from "../output/format-time.ts";
import { messageJson } from "../output/message-json.ts";
import { showValue } from "../output/value.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { followRun } from "./follow-run.ts";
import type { LifecycleLog } from "./lifecycle-log.ts";
import { colouredStatus, runDurationMs, stepTable, writtenFiles } from "./run-summary.ts";
import { RunView } from "./run-view.ts";

export interface WatchRunOptions {
  readonly runId: string;
  readonly definition: WorkflowDefinition;
  /** The project's, which files are named from. */
  readonly root: string;
  /** What a later command must say to mean the same project. */
  readonly hint: string;
  readonly json: boolean;
  /** Only what comes after this event; absent: all of it. */
  readonly afterSeq?: number;
  /** Gets every event as well. */
  readonly log?: LifecycleLog | undefined;
}

/** Shows a run until its end, and then what became of it. The exit code. */
export async function watchRun(context: Context, link: ProjectLink, options: WatchRunOptions): Promise<number> {
  const { terminal } = context;
  const { runId, definition, root, hint, json, afterSeq, log } = options;
  if (json) {
    const onEvent = (event: Parameters<LifecycleLog>[0]): void => {
      log?.(event);
      terminal.print(JSON.stringify({ event: messageJson(EventSchema, event) }));
    };
    const end = await followRun(context, link, { runId, hint, afterSeq, isQuiet: true, onEvent });
    if (end !== "ended") return end === "detached" ? EXIT.OK : EXIT.CANCELLED;
    const run = await readRun(link, runId);
    terminal.print(JSON.stringify({ run: messageJson(RunSchema, run) }));
    return exitOf(run);
  }
  const { style, isLive, columns, rows } = terminal;
  const view = new RunView({ runId, definition, style, isLive, columns, rows, hint });
  const end = await followRun(context, link, { runId, hint, afterSeq, view, onEvent: log });
  if (end !== "ended") return end === "detached" ? EXIT.OK : EXIT.CANCELLED;
  const run = await readRun(link, runId);
  printSummary(context, run, root, hint);
  return exitOf(run);
}

/** A run as it is now. Errors: not_found. */
export async function readRun(link: Pick<ProjectLink, "call">, runId: string): Promise<Run> {
  const { run } = await link.call((client) => client.workflow.getRun({ runId }));
  return run as Run;
}

function exitOf({ status }: Run): number {
  if (status === RunStatus.CANCELLED) return EXIT.CANCELLED;
  return status === RunStatus.FAILED ? EXIT.FAILED : EXIT.OK;
}

function printSummary({ terminal, directory }: Context, run: Run, root: string, hint: string): void {
  const { style } = terminal;
  terminal.print();
  if (run.error !== undefined) for (const line of errorLines(run.error, style)) terminal.print(line);
  const output = showValue(run.output);
  if (output !== "") terminal.print(`${style.bold("Result")}\n${output}`);
  for (const file of writtenFiles(run)) terminal.print(`\n${style.bold("Wrote")} ${path.relative(directory, path.resolve(root, file))}`);
  terminal.print();
  for (const line of stepTable(run, style, terminal.columns())) terminal.print(line);
  terminal.print();
  terminal.print(`Run ${run.runId} ${colouredStatus(run.status, style)} in ${formatDuration(runDurationMs(run, Date.now()))}`);
  const session = run.steps.find(({ sessionId }) => sessionId !== "")?.sessionId;
  const next = [
    ...(run.status === RunStatus.FAILED ? [`resume ${run.runId}${hint}`] : []),
    `inspect ${run.runId}${hint}`,
    `events ${run.runId}${hint}`,
    ...(session === undefined ? [] : [`events ${session}${hint}`]),
  ];
  terminal.print(`\n${style.bold("Next")}`);
  for (const command of next) terminal.print(`  npx forge ${command}`);
}
