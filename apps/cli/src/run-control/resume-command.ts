import { ForgeError } from "@forge/protocol";
import { type ResumeRunResponse, ResumeRunResponseSchema, type Run } from "@forge/protocol/workflow";
import { openProject } from "@forge/workflow/project";
import type { CommandOptions } from "../arguments/command-options.ts";
import { headerOf } from "../arguments/header-of.ts";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageJson } from "../output/message-json.ts";
import { oneLine } from "../output/text.ts";
import { lifecycleLog } from "../run/lifecycle-log.ts";
import { readRun, watchRun } from "../run/watch-run.ts";
import { explainModel } from "../server/explain-model.ts";
import { checkId } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { type CurrentWorkflow, currentWorkflow } from "./current-workflow.ts";
import { explainIntegrity } from "./explain-integrity.ts";

export interface FollowedOptions extends ServerOptions, CommandOptions {
  readonly detach?: boolean;
}

/** `forge resume`: goes on with a failed run where it failed, and follows it. */
export async function resumeCommand(context: Context, runId: string, options: FollowedOptions): Promise<number> {
  const { terminal, environment } = context;
  checkId(runId);
  const { link, root, hint } = await openExisting(context, options.detach === true ? { ...options, foreground: false } : options, {
    reads: false,
    code: "all",
  });
  try {
    const run = await readRun(link, runId);
    const current = await currentWorkflow(run, root);
    if (current === undefined)
      terminal.note(`${run.workflowId}@${run.workflowVersion} is not in ${root}: the run goes on with the workflow that it was started with`);
    const answer = await resumeRun(link, { run, current, hint, options }).catch(async (error: unknown) => {
      throw await explainModel(error, link, environment);
    });
    for (const warning of answer.warnings) terminal.note(`${terminal.errorStyle.yellow("warning:")} ${warning}`);
    if (options.json === true) terminal.print(JSON.stringify({ resumed: messageJson(ResumeRunResponseSchema, answer) }));
    else terminal.print(`${terminal.style.bold(`${run.workflowId}@${run.workflowVersion}`)}  run ${runId} goes on ${where(answer.stepIds)}`);
    if (options.detach === true) return EXIT.OK;
    if (run.definition === undefined) throw ForgeError.validation("run_id", `the server answered without the workflow of run ${runId}`);
    const log = lifecycleLog(context, await openProject(root));
    return await watchRun(context, link, {
      runId,
      definition: run.definition,
      root,
      hint,
      json: options.json === true,
      // From the resumption on: the failure before it is no news, and no end. One that was asked for before begins with its answer.
      afterSeq: Number(run.seq < answer.seq ? run.seq : answer.seq - 1n),
      log,
    });
  } finally {
    await link.close();
  }
}

export interface ResumeRun {
  readonly run: Run;
  /** As it is in the project now. */
  readonly current: CurrentWorkflow | undefined;
  readonly hint: string;
  readonly options: CommandOptions;
}

/** Asks for it, with the hash of the workflow as it is now. Errors: conflict, WORKFLOW_INTEGRITY with what differs and what to do, and others of ResumeRun. */
export async function resumeRun(link: Pick<ProjectLink, "call">, { run, current, hint, options }: ResumeRun): Promise<ResumeRunResponse> {
  const header = headerOf(options);
  try {
    return await link.call((client) => client.workflow.resumeRun({ header, runId: run.runId, workflowHash: current?.hash ?? "" }));
  } catch (error) {
    throw explainIntegrity(error, run, current, hint);
  }
}

/** Where nothing is executed again, what failed was the way on from a step that had completed. */
function where(stepIds: readonly string[]): string {
  return stepIds.length === 0 ? "after the step that completed last" : `with ${stepIds.map(oneLine).join(", ")}`;
}
