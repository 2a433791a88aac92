import type { TaskHandler } from "@forge/worker";
import { undoHandler } from "../changes/undo-handler.ts";
import { BackgroundProcesses } from "../process/background-processes.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { SecretSource } from "../secrets/secret-source.ts";
import { echoTool } from "./echo-tool.ts";
import { fileTool, readFileTool } from "./file-tool.ts";
import { globTool } from "./glob-tool.ts";
import { type HttpOptions, httpTool } from "./http-tool.ts";
import { patchTool } from "./patch-tool.ts";
import { processesTool } from "./processes-tool.ts";
import type { ProgramRules } from "./program-rules.ts";
import { searchTool } from "./search-tool.ts";
import { shellTool } from "./shell-tool.ts";
import type { TestProfile } from "./test-profiles.ts";
import { testTool } from "./test-tool.ts";
import { toolHandler } from "./tool-handler.ts";
import type { Layer } from "./tool-layer.ts";
import { openToolWorkspace, type ToolWorkspace } from "./tool-workspace.ts";

/** What the built-in tools work on. */
export interface BuiltinToolsOptions {
  /** The directory that file, search and shell work in, which must exist; or one that was opened, which whoever opened it closes. */
  readonly workspace: string | ToolWorkspace;
  /** Added to what shell commands see; they never inherit more than PATH, HOME and the like. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Programs that shell commands may name; absent: all. */
  readonly programs?: ProgramRules;
  /** What commands run in; absent: nothing, so that they see what this process sees. Whoever gives it closes it. */
  readonly sandbox?: Sandbox;
  /** Where `secret://name` is looked up; what it knows is taken out of what tools print. */
  readonly secrets?: SecretSource;
  /** Of a workspace that is trusted; absent or empty: tools.test is not served. */
  readonly testProfiles?: readonly TestProfile[];
  /** What tools.http may ask. */
  readonly http?: Omit<HttpOptions, "secrets">;
  /** Given by a host that tells it of turns that end, and closes it; absent: what runs in the background ends with this process. */
  readonly background?: BackgroundProcesses;
  /** Of a workspace that was not opened: paths that tools neither read nor write, like the lines of a .gitignore; absent: files that hold secrets by convention. */
  readonly forbidden?: readonly string[];
  /** Of a workspace that was not opened; see WorkspaceChangesOptions. */
  readonly stateDirectory?: string;
  /** A host's own layers around every call; see policyLayer. */
  readonly layers?: readonly Layer[];
}

/** tools.echo, tools.file, tools.read_file, tools.patch, tools.glob, tools.search, tools.shell, tools.processes, tools.http, tools.test where there are profiles, and undo. */
export function createBuiltinTools(options: BuiltinToolsOptions): TaskHandler[] {
  const { environment, programs, layers, sandbox, secrets, testProfiles = [], background = new BackgroundProcesses() } = options;
  const { guard, changes, observe } = typeof options.workspace === "string" ? openToolWorkspace(options.workspace, options) : options.workspace;
  const pipeline = { layers, observe };
  return [
    toolHandler(echoTool, pipeline),
    toolHandler(fileTool(changes), pipeline),
    toolHandler(readFileTool(guard), pipeline),
    toolHandler(patchTool(changes), pipeline),
    toolHandler(globTool(guard), pipeline),
    toolHandler(searchTool(guard), pipeline),
    toolHandler(shellTool(guard, { environment, programs, sandbox, secrets, background }), pipeline),
    toolHandler(processesTool(background), pipeline),
    toolHandler(httpTool({ ...options.http, secrets }), pipeline),
    ...(testProfiles.length === 0 ? [] : [toolHandler(testTool(guard, { profiles: testProfiles, environment, sandbox, secrets }), pipeline)]),
    undoHandler(changes),
  ];
}
