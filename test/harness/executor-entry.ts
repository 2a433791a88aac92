import { createModelHandlers, createProviderRegistry } from "@forge/agent";
import { createConnectClient, withRetry } from "@forge/client";
import { createBuiltinTools } from "@forge/tools";
import { startWorker } from "@forge/worker";
import { configOf, logger, ready } from "./entry.ts";
import { createTestHandlers } from "./test-handlers.ts";

export interface ExecutorConfig {
  readonly url: string;
  readonly token: string;
  readonly name: string;
  readonly workspace: string;
  /** Where the test tools write down their effects. */
  readonly effectsFile: string;
  readonly environment: Readonly<Record<string, string>>;
}

const config = configOf<ExecutorConfig>();
const port = createConnectClient({ url: config.url, token: config.token });
const { providers } = createProviderRegistry({ env: config.environment });
const worker = await withRetry(
  () =>
    startWorker({
      port,
      name: config.name,
      queues: ["default"],
      handlers: [...createModelHandlers({ providers }), ...createBuiltinTools({ workspace: config.workspace }), ...createTestHandlers(config.effectsFile)],
      slots: 32,
      onProblem: (error) => logger.warn({ err: error }, "a problem in the executor"),
    }),
  { patienceMs: 20_000 },
);
ready({}, async () => {
  await worker.drain(5_000);
  await worker.stop();
  await port.close();
});
