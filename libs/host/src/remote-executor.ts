import { createConnectClient } from "@forge/client";
import { type Executor, type ExecutorOptions, startExecutor } from "./executor.ts";

export interface RemoteExecutorOptions extends Omit<ExecutorOptions, "port"> {
  /** Of the control plane. */
  readonly url: string;
  /** The worker's credential. */
  readonly token: string;
}

/** Starts an executor for a control plane in another process. Resolves once it has joined. Errors: as the control plane's Register. */
export async function startRemoteExecutor({ url, token, ...options }: RemoteExecutorOptions): Promise<Executor> {
  const port = createConnectClient({ url, token });
  try {
    const executor = await startExecutor({ ...options, port });
    return {
      ...executor,
      stop: async () => {
        await executor.stop();
        await port.close();
      },
    };
  } catch (error) {
    await port.close();
    throw error;
  }
}
