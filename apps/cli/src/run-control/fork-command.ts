import { ForgeError } from "@forge/protocol";
import { type ForkRunResponse, ForkRunResponseSchema } from "@forge/protocol/workflow";
import { openProject } from "@forge/workflow/project";
import { headerOf } from "../arguments/header-of.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageJson } from "../output/message-json.ts";
import { oneLine } from "../output/text.ts";
import { lifecycleLog } from "../run/lifecycle-log.ts";
import { readRun, watchRun } from "../run/watch-run.ts";
import { explainModel } from "../server/explain-model.ts";
import { checkId } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { currentWorkflow } from "./current-workflow.ts";
import type { FollowedOptions } from "./resume-command.ts";

export interface ForkOptions extends FollowedOptions {
  /** The step that the new run begins with. */
  readonly from: string;
  readonly label?: Readonly<Record<string, string>>;
}

/** `forge fork`: a new run that shares another's history before a step and begins with that step; follows it. */
export async function forkCommand(context: Context, runId: string, options: ForkOptions): Promise<number> {
  const { terminal, environment } = context;
  checkId(runId);
  const { link, root, hint } = await openExisting(context, options.detach === true ? { ...options, foreground: false } : options, {
    reads: false,
    code: "all",
  });
  try {
    const source = await readRun(link, runId);
    const answer = await forkRun(link, runId, options).catch(async (error: unknown) => {
      throw await explainModel(error, link, environment);
    });
    const isChanged = await hasChanged(source.workflowHash, source, root);
    const note = isChanged ? [`the fork has the workflow as run ${runId} was started with; the project's has changed since`] : [];
    for (const warning of [...note, ...answer.warnings]) terminal.note(`${terminal.errorStyle.yellow("warning:")} ${warning}`);
    if (options.json === true) terminal.print(JSON.stringify({ forked: messageJson(ForkRunResponseSchema, answer) }));
    else
      terminal.print(
        `${terminal.style.bold(`${source.workflowId}@${source.workflowVersion}`)}  run ${answer.runId}, from ${oneLine(options.from)} of run ${runId}`,
      );
    if (options.detach === true) return EXIT.OK;
    if (source.definition === undefined) throw ForgeError.validation("run_id", `the server answered without the workflow of run ${runId}`);
    const log = lifecycleLog(context, await openProject(root));
    return await watchRun(context, link, { runId: answer.runId, definition: source.definition, root, hint, json: options.json === true, log });
  } finally {
    await link.close();
  }
}

/** Asks for it. The hash is not sent: a fork goes on with the workflow that its source was started with, whatever the files say now. Errors: those of ForkRun. */
export async function forkRun(
  link: Pick<ProjectLink, "call">,
  runId: string,
  options: Pick<ForkOptions, "from" | "label" | "commandId" | "expectedSeq">,
): Promise<ForkRunResponse> {
  const header = headerOf(options);
  const labels = { ...options.label };
  return await link.call((client) => client.workflow.forkRun({ header, runId, stepId: options.from, labels }));
}

async function hasChanged(hash: string, run: Parameters<typeof currentWorkflow>[0], root: string): Promise<boolean> {
  try {
    const current = await currentWorkflow(run, root);
    return current !== undefined && current.hash !== hash;
  } catch (error) {
    // A file that can't be read is not the one that the run was started with.
    if (error instanceof ForgeError) return true;
    throw error;
  }
}
