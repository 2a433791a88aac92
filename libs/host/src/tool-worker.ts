import { join } from "node:path";
import { createConnectClient } from "@forge/client";
import { createSkillTool } from "@forge/context";
import {
  BackgroundProcesses,
  type BuiltinToolsOptions,
  createBuiltinTools,
  createSandbox,
  createSecretSource,
  openToolWorkspace,
  type ProgramRules,
  parseTestProfiles,
  type SandboxOptions,
  toolHandler,
} from "@forge/tools";
import { startWorker } from "@forge/worker";
import type { TurnEnd } from "./extensions/watch-ends.ts";
import type { WorkspaceCode } from "./extensions/workspace-code.ts";
import { startWorkspaceExtensions } from "./extensions/workspace-extensions.ts";

/** What a worker for tools works on; plain data, because it is told to another process. */
export interface ToolWorkerSettings {
  /** Of the control plane. */
  readonly url: string;
  /** The worker's credential. */
  readonly token: string;
  /** Stable over restarts, and no other worker's. */
  readonly name: string;
  readonly queues: readonly string[];
  readonly workspace: string;
  /** Its data, which no command sees; and in which a file `secrets` may be. */
  readonly dataDirectory: string;
  /** Whether the workspace's own test profiles may be run. */
  readonly isTrusted: boolean;
  /** Hooks, MCP servers and test profiles that may run, as trust has looked at them: the files may have changed since. Absent: none. */
  readonly code?: WorkspaceCode;
  /** Variables that .mcp.json may use. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Where the person's own skills are; absent: the workspace's alone. */
  readonly configDirectory?: string;
  /** Names of built-in tools that somebody else serves: the project's own stand in their place. */
  readonly except?: readonly string[];
  /** Programs that tools.shell may run; absent: all. */
  readonly programs?: ProgramRules;
  /** Added to what commands see. */
  readonly commandEnvironment?: Readonly<Record<string, string>>;
  readonly sandbox?: Pick<SandboxOptions, "policy" | "hidden" | "readable" | "writable" | "network">;
  readonly http?: BuiltinToolsOptions["http"];
  readonly forbidden?: readonly string[];
  /** Tasks at once; absent: 64. */
  readonly slots?: number;
}

/** A worker that serves tools and no model. */
export interface ToolWorker {
  /** Ends what runs in the background of a turn, and calls the hooks for its end. */
  turnEnded(end: TurnEnd): Promise<void>;
  /** Ends what runs in the background of a session. */
  sessionEnded(sessionId: string): Promise<void>;
  drain(waitMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a worker for tools. Resolves once it has joined. Errors: as the control plane's Register; validation for a wrong file of test profiles. */
export async function startToolWorker(settings: ToolWorkerSettings, onProblem: (error: unknown) => void): Promise<ToolWorker> {
  const { workspace, dataDirectory, sandbox: rules, code = {} } = settings;
  await using cleanup = new AsyncDisposableStack();
  const sandbox = createSandbox({
    ...rules,
    workspace,
    hidden: [dataDirectory, ...(rules?.hidden ?? [])],
    cacheDirectory: join(dataDirectory, "caches"),
  });
  cleanup.defer(() => sandbox.close());
  const background = new BackgroundProcesses();
  cleanup.defer(() => background.close());
  const opened = openToolWorkspace(workspace, { forbidden: settings.forbidden, stateDirectory: join(dataDirectory, "changes") });
  cleanup.defer(() => opened.close());
  const secrets = createSecretSource({ environment: process.env, file: join(dataDirectory, "secrets") });
  const builtin = createBuiltinTools({
    workspace: opened,
    environment: settings.commandEnvironment,
    programs: settings.programs,
    sandbox,
    secrets,
    testProfiles: settings.isTrusted && code.tests !== undefined ? parseTestProfiles(code.tests) : [],
    http: settings.http,
    background,
  });
  const port = createConnectClient({ url: settings.url, token: settings.token });
  cleanup.defer(() => port.close());
  const { name, queues, variables } = settings;
  const extensions = startWorkspaceExtensions({
    code,
    workspace,
    dataDirectory,
    variables,
    secrets,
    wrap: (command) => sandbox.wrap(command),
    pipeline: { observe: opened.observe },
    port,
    name: `${name}:mcp`,
    queues,
    onProblem,
  });
  cleanup.defer(() => extensions.stop());
  const skills = toolHandler(createSkillTool({ root: workspace, configDirectory: settings.configDirectory }));
  const served = [...builtin, skills].filter(({ capability }) => !(settings.except ?? []).includes(capability.name));
  const handlers = [...extensions.hooked(served), ...extensions.hookHandlers];
  const worker = await startWorker({ port, name, queues, handlers, slots: settings.slots ?? 64, onProblem });
  cleanup.defer(() => worker.stop());
  // The first turn then has the tools of MCP servers; those that take long are served when they are there.
  await extensions.ready.catch(onProblem);
  // The first command then needn't wait for it.
  void sandbox.probe();
  const started = cleanup.move();
  return {
    turnEnded: async (end) => {
      await Promise.all([background.turnEnded(end), extensions.turnEnded(end)]);
    },
    sessionEnded: (sessionId) => background.sessionEnded(sessionId),
    drain: async (waitMs) => {
      await Promise.all([worker.drain(waitMs), extensions.drain(waitMs)]);
    },
    stop: () => started.disposeAsync(),
  };
}
