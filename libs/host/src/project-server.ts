import type { ProviderConfig } from "@forge/agent";
import { type ConnectClient, createLocalClient } from "@forge/client";
import { createSkillTool } from "@forge/context";
import type { Run } from "@forge/protocol/workflow";
import { createBuiltinTools, toolHandler } from "@forge/tools";
import type { Logger } from "pino";
import { type Address, removeAddress, writeAddress } from "./address-file.ts";
import { type ControlPlaneService, type ControlPlaneServiceOptions, startControlPlane } from "./control-plane.ts";
import { makeDataDirectory } from "./data-origin.ts";
import { openDatabase } from "./database.ts";
import { type Executor, type ProjectCode, startExecutor } from "./executor.ts";
import { watchEnds } from "./extensions/watch-ends.ts";
import { hooksConfigOf, type WorkspaceCode } from "./extensions/workspace-code.ts";
import { dataDirectoryOf, projectQueue } from "./project-paths.ts";
import { grant, principalOf, tokenIn } from "./tokens.ts";
import { startToolProcess } from "./tool-process.ts";
import type { ToolWorkerSettings } from "./tool-worker.ts";
import { VERSION } from "./version.ts";

export interface ProjectServerOptions extends Omit<ProjectCode, "readRun"> {
  /** The project's root. */
  readonly root: string;
  /** Absent: `.forge/data` in the root. */
  readonly dataDirectory?: string;
  readonly databaseUrl?: string;
  /** As `DatabaseOptions` has it. */
  readonly databaseDirectUrl?: string;
  readonly functionsDirectory?: string;
  readonly providers?: ProviderConfig;
  /** What the built-in tools may do. */
  readonly tools?: Pick<ToolWorkerSettings, "programs" | "sandbox" | "http" | "forbidden" | "variables">;
  /** What its address tells of how it was started. */
  readonly told?: Pick<Address, "runsCode" | "trusted" | "endsWhenIdle">;
  /** Whether test profiles of the workspace may be run. */
  readonly isTrusted?: boolean;
  /** Hooks and MCP servers that may run; absent: none. */
  readonly code?: WorkspaceCode;
  /** Where the person's own skills are; absent: the workspace's alone. */
  readonly configDirectory?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly host?: string;
  /** Absent or 0: any free one. */
  readonly port?: number;
  readonly origins?: readonly string[];
  readonly hosts?: readonly string[];
  readonly logger: Logger;
  readonly onProgress?: (message: string) => void;
  readonly leaseTtlMs?: number;
  /** What becomes of runs that have ended; absent: they stay as they are. */
  readonly retention?: ControlPlaneServiceOptions["retention"];
}

/** Control plane, executor and database of one project, in this process. */
export interface ProjectServer {
  readonly url: string;
  readonly dataDirectory: string;
  readonly queue: string;
  readonly token: string;
  /** A client without a wire, as the command line's principal. */
  readonly client: ConnectClient;
  readonly service: ControlPlaneService;
  readonly functionErrors: Executor["functionErrors"];
  /** Whether nobody talks to it, and no work waits or runs; how long so, in milliseconds. */
  idleMs(): Promise<number>;
  /** Is found by nobody any more, lets what runs finish, at most so long, then stops everything. Called again with 0 it waits no longer. */
  close(drainMs: number): Promise<void>;
}

const NAMESPACE = "default";

/** Starts everything that a project needs, in one process. Errors: conflict DATA_DIRECTORY_IN_USE where another process serves it. */
export async function startProjectServer(options: ProjectServerOptions): Promise<ProjectServer> {
  const { root, logger, onProgress } = options;
  const cleanup = new AsyncDisposableStack();
  const toolSettings = Promise.withResolvers<ToolWorkerSettings>();
  // Only this process knows keys of providers. The other one starts while the database does.
  const tools = startToolProcess({ settings: toolSettings.promise, processEnvironment: options.environment, logger });
  cleanup.defer(() => tools.stop());
  try {
    const dataDirectory = options.dataDirectory ?? dataDirectoryOf(root);
    await makeDataDirectory(dataDirectory);
    const { databaseUrl, databaseDirectUrl } = options;
    const database = await openDatabase({ dataDirectory, databaseUrl, databaseDirectUrl, logger, onProgress });
    cleanup.defer(() => database.close());
    const service = await startControlPlane({
      connection: database.connection,
      host: options.host,
      port: options.port ?? 0,
      origins: options.origins,
      hosts: options.hosts,
      logger,
      leaseTtlMs: options.leaseTtlMs,
      retention: options.retention,
    });
    cleanup.defer(() => service.close());
    const token = await tokenIn(dataDirectory, "token");
    const principal = databaseUrl === undefined ? "cli" : principalOf("cli", token);
    await grant(service.store, token, { id: principal, role: "admin", namespaces: [NAMESPACE], queues: [] });
    const workerToken = await tokenIn(dataDirectory, "worker-token");
    const workers = databaseUrl === undefined ? "worker" : principalOf("worker", workerToken);
    await grant(service.store, workerToken, { id: workers, role: "worker", namespaces: [NAMESPACE], queues: [] });
    const queue = await projectQueue(root);
    const name = `executor:${queue}`;
    const port = createLocalClient(service.apis, { namespace: NAMESPACE, principal: `worker:${name}`, role: "worker" });
    const client = createLocalClient(service.apis, { namespace: NAMESPACE, principal });
    cleanup.defer(() => client.close());
    onProgress?.("Starting the executor");
    const executor = await startExecutor({
      port,
      name,
      queues: [queue, "default"],
      workspace: root,
      functionsDirectory: options.functionsDirectory,
      toolsDirectory: options.toolsDirectory,
      python: options.python,
      pythonEnvironment: options.pythonEnvironment,
      readRun: async (runId) => (await client.workflow.getRun({ runId })).run as Run,
      environment: options.environment,
      providers: options.providers,
      servesTools: false,
      hooks: hooksConfigOf(options.code ?? {}),
      logger,
    });
    cleanup.defer(async () => {
      await executor.stop();
      await port.close();
    });
    toolSettings.resolve({
      ...options.tools,
      url: service.url,
      token: workerToken,
      name: `${name}-tools`,
      queues: [queue, "default"],
      workspace: root,
      dataDirectory,
      isTrusted: options.isTrusted === true,
      code: options.code,
      configDirectory: options.configDirectory,
      except: executor.toolNames,
    });
    if (hasExtensions(options.code)) await tools.ready;
    else await announceTools(service, { principal: workers, name: `${name}-tools`, queues: [queue, "default"], workspace: root, except: executor.toolNames });
    const ends = watchEnds({
      client,
      queue,
      onTurnEnd: (end) => tools.turnEnded(end),
      onSessionEnd: (sessionId) => tools.sessionEnded(sessionId),
      onProblem: (error) => logger.error({ err: error }, "turns that end could not be watched"),
    });
    cleanup.defer(() => ends.stop());
    await writeAddress(dataDirectory, { ...options.told, url: service.url, pid: process.pid, startedAt: new Date().toISOString(), version: VERSION });
    cleanup.defer(() => removeAddress(dataDirectory));
    let closed: Promise<void> | undefined;
    const hurry = Promise.withResolvers<void>();
    return {
      url: service.url,
      dataDirectory,
      queue,
      token,
      client,
      service,
      functionErrors: executor.functionErrors,
      idleMs: async () => {
        if (service.activity.open > 0 || (await service.store.hasWork())) return 0;
        return Date.now() - service.activity.lastAtMs;
      },
      close: (drainMs) => {
        if (drainMs <= 0) hurry.resolve();
        closed ??= removeAddress(dataDirectory)
          .then(() => Promise.race([Promise.all([executor.drain(drainMs), tools.drain(drainMs)]), hurry.promise]))
          .then(() => cleanup.disposeAsync());
        return closed;
      },
    };
  } catch (error) {
    await cleanup.disposeAsync();
    throw error;
  }
}

/** Hooks that are not served fail what they are to be called for, and nobody knows the tools of MCP servers beforehand. */
function hasExtensions(code: WorkspaceCode | undefined): boolean {
  return code !== undefined && Object.values(code).some((text) => text !== undefined);
}

interface Announced {
  readonly principal: string;
  readonly name: string;
  readonly queues: readonly string[];
  readonly workspace: string;
  readonly except: readonly string[];
}

/** Says which tools are about to be served, in the name of the worker that will: what is to be called meanwhile waits for it. */
async function announceTools(service: ControlPlaneService, { principal, name, queues, workspace, except }: Announced): Promise<void> {
  const port = createLocalClient(service.apis, { namespace: NAMESPACE, principal, role: "worker" });
  try {
    const served = [...createBuiltinTools({ workspace }), toolHandler(createSkillTool({ root: workspace }))];
    const capabilities = served.flatMap(({ capability }) => (except.includes(capability.name) ? [] : [capability]));
    await port.worker.register({ version: { major: 1, minor: 0 }, workerName: name, queues: [...queues], capabilities, slots: 1 });
  } finally {
    await port.close();
  }
}
