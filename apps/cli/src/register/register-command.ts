import path from "node:path";
import { type RegisteredDefinition, RegisteredDefinitionSchema } from "@forge/protocol/workflow";
import { openProject, resolveWorkflow } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { explainRefusal } from "../run/explain-refusal.ts";
import { openLink } from "../server/open-link.ts";

/** `forge register`: keeps a workflow as it is now in the control plane, for programs to start runs of it by its name. */
export async function registerCommand(context: Context, reference: string, options: ServerOptions): Promise<number> {
  const { terminal, directory } = context;
  const named = options.project === undefined ? undefined : await openProject(path.resolve(directory, options.project));
  const resolved = await resolveWorkflow(reference, { directory, project: named });
  const { definition, project, warnings } = resolved;
  const link = await openLink(context, options, { root: project.root, reads: false, code: "all" });
  try {
    const { registered } = await link
      .call((client) => client.workflow.registerDefinition({ definition }))
      .catch(async (error: unknown) => {
        throw await explainRefusal(error, resolved);
      });
    for (const warning of [...project.warnings, ...warnings]) terminal.note(`${terminal.errorStyle.yellow("warning:")} ${warning}`);
    const kept = registered as RegisteredDefinition;
    terminal.print(options.json === true ? messageLine(RegisteredDefinitionSchema, kept) : `${kept.workflowId}@${kept.workflowVersion}  ${kept.workflowHash}`);
    if (options.json !== true) terminal.note(`Programs start it as ${kept.workflowId}@${kept.workflowVersion} in the queue ${link.queue}`);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}
