import path from "node:path";
import type { Value } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import { Decision, type ToolPolicy } from "@forge/protocol/tool";
import { type Run, RunSchema, RunStatus, StartRunResponseSchema } from "@forge/protocol/workflow";
import { definitionReferences, openProject, type Project, parseInputs, resolveWorkflow, toolPolicy } from "@forge/workflow";
import { type CommandOptions, headerOf } from "../arguments/command-options.ts";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { errorLines } from "../output/error-report.ts";
import { formatDuration } from "../output/format-time.ts";
import { messageJson } from "../output/message-json.ts";
import { showValue } from "../output/value.ts";
import { storeValue } from "../server/artifact-value.ts";
import { checkDemoModels, explainModel } from "../server/explain-model.ts";
import { hintFor } from "../server/locate-project.ts";
import { openLink } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { remoteHint } from "../server/remote.ts";
import { explainRefusal } from "./explain-refusal.ts";
import { followRun } from "./follow-run.ts";
import { colouredStatus, runDurationMs, stepTable, writtenFiles } from "./run-summary.ts";
import { RunView } from "./run-view.ts";

export interface RunOptions extends ServerOptions, CommandOptions {
  readonly input?: readonly string[];
  readonly model?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly approve?: boolean;
  readonly deny?: boolean;
  readonly detach?: boolean;
}

/** `forge run`: starts a run and follows it to its end. */
export async function runCommand(context: Context, reference: string, options: RunOptions): Promise<number> {
  const { terminal, directory } = context;
  const named = options.project === undefined ? undefined : await openProject(path.resolve(directory, options.project));
  const resolved = await resolveWorkflow(reference, { directory, project: named });
  const { definition, project, warnings } = resolved;
  const inputs = JSON.stringify(await parseInputs(options.input ?? [], directory));
  const hint = `${await hintFor(project.root, directory)}${remoteHint(options)}`;
  const link = await openLink(context, options.detach === true ? { ...options, foreground: false } : options, { root: project.root, reads: false });
  try {
    const header = headerOf(options);
    const value: Value = await storeValue(link, inputs);
    const models = options.model === undefined ? definitionReferences(definition).models : [options.model];
    await checkDemoModels(models, link, context.environment);
    const started = await link
      .call((client) =>
        client.workflow.startRun({
          header,
          definition,
          inputs: value,
          labels: { ...options.label },
          queue: link.queue,
          modelOverride: options.model ?? "",
          policy: runPolicy(project, options),
        }),
      )
      .catch(async (error: unknown) => {
        throw await explainModel(explainRefusal(error, resolved), link, context.environment);
      });
    const { runId } = started;
    const ownWarnings = link.reach.kind === "own" ? link.reach.warnings : project.warnings;
    for (const warning of [...ownWarnings, ...warnings, ...started.warnings]) terminal.note(`${terminal.errorStyle.yellow("warning:")} ${warning}`);
    if (options.json === true) {
      terminal.print(JSON.stringify({ started: messageJson(StartRunResponseSchema, started) }));
      if (options.detach === true) return EXIT.OK;
      const end = await followRun(context, link, {
        runId,
        hint,
        onEvent: (event) => terminal.print(JSON.stringify({ event: messageJson(EventSchema, event) })),
      });
      if (end !== "ended") return end === "detached" ? EXIT.OK : EXIT.CANCELLED;
      const run = await readRun(link, runId);
      terminal.print(JSON.stringify({ run: messageJson(RunSchema, run) }));
      return exitOf(run);
    }
    terminal.print(`${terminal.style.bold(`${definition.id}@${definition.version}`)}  run ${runId}`);
    if (options.detach === true) {
      terminal.print(`It goes on in the background.\n  npx forge events ${runId} --follow --children${hint}\n  npx forge inspect ${runId}${hint}`);
      return EXIT.OK;
    }
    const view = new RunView({ definition, style: terminal.style, isLive: terminal.isLive, columns: terminal.columns, hint });
    const end = await followRun(context, link, { runId, hint, view });
    if (end !== "ended") return end === "detached" ? EXIT.OK : EXIT.CANCELLED;
    const run = await readRun(link, runId);
    printSummary(context, run, project.root, hint);
    return exitOf(run);
  } finally {
    await link.close();
  }
}

async function readRun(link: ProjectLink, runId: string): Promise<Run> {
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
  const next = [`inspect ${run.runId}${hint}`, `events ${run.runId}${hint}`, ...(session === undefined ? [] : [`events ${session}${hint}`])];
  terminal.print(`\n${style.bold("Next")}`);
  for (const command of next) terminal.print(`  npx forge ${command}`);
}

/** What the project's configuration lets agents' tools do; --approve and --deny answer what would be asked. */
function runPolicy(project: Project, { approve, deny }: RunOptions): ToolPolicy {
  const answer = approve === true ? Decision.ALLOW : deny === true ? Decision.DENY : undefined;
  return { ...toolPolicy(project.config), answer };
}
