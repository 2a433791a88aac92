import { createConnectClient } from "@forge/client";
import { type Executor, type ExecutorOptions, startExecutor } from "./executor.ts";
import { dataDirectoryOf } from "./project-paths.ts";
import { startToolProcess } from "./tool-process.ts";
import type { ToolWorkerSettings } from "./tool-worker.ts";

export interface RemoteExecutorOptions extends Omit<ExecutorOptions, "port" | "servesTools"> {
  /** Of the control plane. */
  readonly url: string;
  /** The worker's credential. */
  readonly token: string;
  /** Where its tools keep what they need to take changes back, and secrets of tools may be; absent: `.forge/data` in the workspace. */
  readonly dataDirectory?: string;
  /** What the built-in tools may do beside. */
  readonly tools?: Pick<ToolWorkerSettings, "sandbox" | "http" | "forbidden">;
}

/** Starts an executor for a control plane in another process. Resolves once it has joined. Errors: as the control plane's Register. */
export async function startRemoteExecutor({ url, token, ...options }: RemoteExecutorOptions): Promise<Executor> {
  const { workspace, name, queues, programs, slots, logger, dataDirectory = dataDirectoryOf(workspace) } = options;
  await using cleanup = new AsyncDisposableStack();
  const settings = Promise.withResolvers<ToolWorkerSettings>();
  // Only this process knows keys of providers.
  const tools = startToolProcess({ settings: settings.promise, processEnvironment: options.environment, logger });
  cleanup.defer(() => tools.stop());
  const port = createConnectClient({ url, token });
  cleanup.defer(() => port.close());
  const executor = await startExecutor({ ...options, port, servesTools: false });
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
  await tools.ready;
  const started = cleanup.move();
  return {
    ...executor,
    drain: async (waitMs) => {
      await Promise.all([executor.drain(waitMs), tools.drain(waitMs)]);
    },
    stop: () => started.disposeAsync(),
  };
}
