import path from "node:path";
import { ForgeError } from "@forge/protocol";
import {
  checkFunctions,
  checkPython,
  checkPythonWorkflow,
  type LoadedWorkflow,
  listWorkflows,
  loadWorkflow,
  type Project,
  resolveWorkflow,
} from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { errorLines } from "../output/error-report.ts";
import { openNamedProject } from "./open-named-project.ts";

/** What was found in one file. */
interface Checked {
  readonly file: string;
  readonly workflow: string;
  readonly warnings: readonly string[];
  readonly errors: readonly ForgeError[];
}

/** `forge check`: whether workflows are right, without running anything. Everything that is wrong is said, file by file. */
export async function checkCommand(context: Context, reference: string | undefined, options: ServerOptions): Promise<number> {
  const { terminal, directory } = context;
  const project = await openNamedProject(context, options.project);
  const checked =
    reference === undefined ? await checkAll(project) : [await checkOne(reference, directory, options.project === undefined ? undefined : project)];
  const isRight = checked.every(({ errors }) => errors.length === 0);
  if (options.json === true) {
    for (const { file, workflow, warnings, errors } of checked)
      terminal.print(
        JSON.stringify({ file, workflow, warnings, errors: errors.map(({ message, reason, detail }) => ({ message, reason, ...detail.metadata })) }),
      );
    return isRight ? EXIT.OK : EXIT.USAGE;
  }
  const { style } = terminal;
  for (const { file, workflow, warnings, errors } of checked) {
    terminal.print(`${errors.length === 0 ? style.green("✔") : style.red("✖")} ${file}${workflow === "" ? "" : `  ${style.dim(workflow)}`}`);
    for (const warning of warnings) terminal.print(`  ${style.yellow("warning:")} ${warning}`);
    for (const error of errors) for (const line of errorLines(error.detail, style)) terminal.print(`  ${line}`);
  }
  if (checked.length === 0) terminal.print(`there are no workflows in ${project.workflowsDir}`);
  return isRight ? EXIT.OK : EXIT.USAGE;
}

async function checkAll(project: Project): Promise<Checked[]> {
  const checked: Checked[] = [];
  const warnings = await checkPython(project);
  if (warnings.length > 0) checked.push({ file: path.basename(project.root), workflow: "", warnings, errors: [] });
  for (const { path: file, id, version } of await listWorkflows(project)) {
    checked.push(await report(path.relative(project.root, file), `${id}@${version}`, project, async () => await loadWorkflow(project, file)));
  }
  return checked;
}

async function checkOne(reference: string, directory: string, project: Project | undefined): Promise<Checked> {
  try {
    const resolved = await resolveWorkflow(reference, { directory, project });
    const name = `${resolved.definition.id}@${resolved.definition.version}`;
    return await report(path.relative(directory, resolved.path), name, resolved.project, async () => resolved);
  } catch (error) {
    if (error instanceof ForgeError) return { file: reference, workflow: "", warnings: [], errors: [error] };
    throw error;
  }
}

async function report(file: string, workflow: string, project: Project, load: () => Promise<LoadedWorkflow>): Promise<Checked> {
  try {
    const loaded = await load();
    const warnings = [...loaded.warnings, ...(await checkPythonWorkflow(loaded, project))];
    return { file, workflow, warnings, errors: await checkFunctions(loaded, project) };
  } catch (error) {
    if (error instanceof ForgeError) return { file, workflow, warnings: [], errors: [error] };
    throw error;
  }
}
