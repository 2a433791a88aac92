import path from "node:path";
import type { Value } from "@forge/protocol/common";
import { Decision, type ToolPolicy } from "@forge/protocol/tool";
import { StartRunResponseSchema } from "@forge/protocol/workflow";
import { definitionReferences, openProject, overwritePolicy, type Project, parseInputs, resolveWorkflow, toolPolicy } from "@forge/workflow";
import type { CommandOptions } from "../arguments/command-options.ts";
import { headerOf } from "../arguments/header-of.ts";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageJson } from "../output/message-json.ts";
import { storeValue } from "../server/artifact-value.ts";
import { checkDemoModels, explainModel } from "../server/explain-model.ts";
import { hintFor } from "../server/locate-project.ts";
import { openLink } from "../server/open-link.ts";
import { remoteHint } from "../server/remote.ts";
import { explainRefusal } from "./explain-refusal.ts";
import { lifecycleLog } from "./lifecycle-log.ts";
import { watchRun } from "./watch-run.ts";

export interface RunOptions extends ServerOptions, CommandOptions {
  readonly input?: readonly string[];
  readonly model?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly approve?: boolean;
  readonly deny?: boolean;
  readonly detach?: boolean;
  readonly priority?: number;
  readonly concurrencyKey?: string;
  readonly concurrencyLimit?: number;
}

/** `forge run`: starts a run and follows it to its end. */
export async function runCommand(context: Context, reference: string, options: RunOptions): Promise<number> {
  const { terminal, directory } = context;
  const named = options.project === undefined ? undefined : await openProject(path.resolve(directory, options.project));
  const given = (options.input ?? []).map((input) => input.split("=", 1)[0]?.trim() ?? "").filter((name) => name !== "");
  const resolved = await resolveWorkflow(reference, { directory, project: named, inputs: given });
  const { definition, project, warnings } = resolved;
  const inputs = JSON.stringify(await parseInputs(options.input ?? [], directory));
  const hint = `${await hintFor(project.root, directory)}${remoteHint(options)}`;
  const link = await openLink(context, options.detach === true ? { ...options, foreground: false } : options, {
    root: project.root,
    reads: false,
    code: "all",
  });
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
          overwritePolicy: overwritePolicy(project.config),
          priority: options.priority,
          concurrencyKey: options.concurrencyKey ?? "",
          concurrencyLimit: options.concurrencyLimit ?? 0,
        }),
      )
      .catch(async (error: unknown) => {
        throw await explainModel(await explainRefusal(error, resolved), link, context.environment);
      });
    const { runId } = started;
    const ownWarnings = link.reach.kind === "own" ? link.reach.warnings : project.warnings;
    for (const warning of [...ownWarnings, ...warnings, ...started.warnings]) terminal.note(`${terminal.errorStyle.yellow("warning:")} ${warning}`);
    const watched = { runId, definition, root: project.root, hint, json: options.json === true, log: lifecycleLog(context, project) };
    if (options.json === true) {
      terminal.print(JSON.stringify({ started: messageJson(StartRunResponseSchema, started) }));
      return options.detach === true ? EXIT.OK : await watchRun(context, link, watched);
    }
    terminal.print(`${terminal.style.bold(`${definition.id}@${definition.version}`)}  run ${runId}`);
    if (options.detach !== true) return await watchRun(context, link, watched);
    terminal.print(`It goes on in the background.\n  npx forge events ${runId} --follow --children${hint}\n  npx forge inspect ${runId}${hint}`);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

/** What the project's configuration lets agents' tools do; --approve and --deny answer what would be asked. */
function runPolicy(project: Project, { approve, deny }: RunOptions): ToolPolicy {
  const answer = approve === true ? Decision.ALLOW : deny === true ? Decision.DENY : undefined;
  return { ...toolPolicy(project.config), answer };
}
