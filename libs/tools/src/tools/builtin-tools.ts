import type { TaskHandler } from "@forge/worker";
import { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { echoTool } from "./echo-tool.ts";
import { fileTool, readFileTool } from "./file-tool.ts";
import type { ProgramRules } from "./program-rules.ts";
import { searchTool } from "./search-tool.ts";
import { shellTool } from "./shell-tool.ts";
import { toolHandler } from "./tool-handler.ts";

/** What the built-in tools work on. */
export interface BuiltinToolsOptions {
  /** The directory that file, search and shell work in; must exist. */
  readonly workspace: string;
  /** Added to what shell commands see; they never inherit more than PATH, HOME and the like. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Programs that shell commands may name; absent: all. */
  readonly programs?: ProgramRules;
}

/** tools.echo, tools.file, tools.read_file, tools.search and tools.shell. */
export function createBuiltinTools({ workspace, environment = {}, programs }: BuiltinToolsOptions): TaskHandler[] {
  const guard = new WorkspaceGuard(workspace);
  return [
    toolHandler(echoTool),
    toolHandler(fileTool(guard)),
    toolHandler(readFileTool(guard)),
    toolHandler(searchTool(guard)),
    toolHandler(shellTool(guard, environment, programs)),
  ];
}
