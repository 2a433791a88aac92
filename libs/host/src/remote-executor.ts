import { createConnectClient } from "@forge/client";
import { type Executor, type ExecutorOptions, startExecutor } from "./executor.ts";
import { dataDirectoryOf } from "./project-paths.ts";
import { startToolProcess } from "./tool-process.ts";
import type { ToolWorkerSettings } from "./tool-worker.ts";

/** What an executor may leave to others: calls of models, or tools and a project's functions. */
export type Served = "models" | "tools";

export interface RemoteExecutorOptions extends Omit<ExecutorOptions, "port" | "servesTools" | "servesModels"> {
  /** Absent: both. Where it is models alone, no command that an agent runs is on the machine, or in the container, that has keys of providers. */
  readonly serves?: readonly Served[];
  /** Of the control plane. */
  readonly url: string;
  /** The worker's credential. */
  readonly token: string;
  /** Where its tools keep what they need to take changes back, and secrets of tools may be; absent: `.forge/data` in the workspace. */
  readonly dataDirectory?: string;
  /** What the built-in tools may do beside. */
  readonly tools?: Pick<ToolWorkerSettings, "sandbox" | "http" | "forbidden">;
}

const NOTHING: Executor = { functionErrors: [], toolNames: [], drain: async () => undefined, stop: async () => undefined };

/** Starts an executor for a control plane in another process. Resolves once it has joined. Errors: as the control plane's Register. */
export async function startRemoteExecutor({ url, token, serves = ["models", "tools"], ...options }: RemoteExecutorOptions): Promise<Executor> {
  const { workspace, name, queues, programs, slots, logger, dataDirectory = dataDirectoryOf(workspace) } = options;
  const [servesModels, servesTools] = [serves.includes("models"), serves.includes("tools")];
  await using cleanup = new AsyncDisposableStack();
  const settings = Promise.withResolvers<ToolWorkerSettings>();
  // Only this process knows keys of providers.
  const tools = servesTools ? startToolProcess({ settings: settings.promise, processEnvironment: options.environment, logger }) : undefined;
  cleanup.defer(() => tools?.stop());
  const port = createConnectClient({ url, token });
  cleanup.defer(() => port.close());
  const functionsDirectory = servesTools ? options.functionsDirectory : undefined;
  const hasOwn = servesModels || functionsDirectory !== undefined;
  const executor = hasOwn ? await startExecutor({ ...options, functionsDirectory, port, servesModels, servesTools: false }) : NOTHING;
  cleanup.defer(() => executor.stop());
  settings.resolve({
    ...options.tools,
    url,
    token,
    name: `${name}-tools`,
    queues,
    workspace,
    dataDirectory,
    isTrusted: false,
    programs,
    slots,
    except: executor.toolNames,
  });
  await tools?.ready;
  const started = cleanup.move();
  return {
    ...executor,
    drain: async (waitMs) => {
      await Promise.all([executor.drain(waitMs), tools?.drain(waitMs)]);
    },
    stop: () => started.disposeAsync(),
  };
}
