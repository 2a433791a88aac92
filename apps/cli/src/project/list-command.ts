import path from "node:path";
import { listAgents, listWorkflows } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { table } from "../output/table.ts";
import { oneLine } from "../output/text.ts";
import { openNamedProject } from "./open-named-project.ts";

interface Listed {
  readonly kind: "workflow" | "agent";
  readonly id: string;
  readonly version: string;
  readonly file: string;
}

/** `forge list`: the workflows and agents of a project. */
export async function listCommand(context: Context, options: ServerOptions): Promise<number> {
  const { terminal } = context;
  const project = await openNamedProject(context, options.project);
  const file = (absolute: string): string => path.relative(project.root, absolute);
  const workflows = (await listWorkflows(project)).map((each): Listed => ({ kind: "workflow", id: each.id, version: each.version, file: file(each.path) }));
  const agents = (await listAgents(project)).map((each): Listed => ({ kind: "agent", ...each }));
  const listed = [...workflows, ...agents];
  if (options.json === true) {
    for (const each of listed) terminal.print(JSON.stringify(each));
    return EXIT.OK;
  }
  const columns = [{ title: "KIND" }, { title: "ID" }, { title: "VERSION" }, { title: "FILE", shrinks: true }];
  const rows = listed.map((each) => [each.kind, oneLine(each.id), oneLine(each.version), oneLine(each.file)]);
  if (rows.length === 0) terminal.print(`no workflows and no agents in ${project.root}: \`npx forge init\` makes a first one`);
  else for (const line of table(columns, rows, terminal.columns())) terminal.print(line);
  return EXIT.OK;
}
