import { createModelHandlers, createProviderRegistry } from "@forge/agent";
import { createLocalClient } from "@forge/client";
import { grant, openDatabase, startControlPlane } from "@forge/host";
import { createBuiltinTools } from "@forge/tools";
import { startWorker } from "@forge/worker";
import { configOf, logger, ready } from "./entry.ts";
import { createTestHandlers } from "./test-handlers.ts";

export interface OneProcessConfig {
  readonly dataDirectory: string;
  readonly port: number;
  readonly leaseTtlMs: number;
  readonly subscriberBytesMax: number;
  readonly namespace: string;
  readonly token: string;
  readonly workerToken: string;
  readonly workspace: string;
  /** Where the test tools write down their effects. */
  readonly effectsFile: string;
}

// Database, control plane and executor in one process, as `forge up` has them, with the test tools beside the built-in ones.
const config = configOf<OneProcessConfig>();
const { port, leaseTtlMs, subscriberBytesMax, namespace } = config;
const database = await openDatabase({ dataDirectory: config.dataDirectory, logger });
const service = await startControlPlane({ connection: database.connection, port, leaseTtlMs, subscriberBytesMax, logger });
await grant(service.store, config.token, { id: "tester", role: "admin", namespaces: [namespace], queues: [] });
await grant(service.store, config.workerToken, { id: "worker:tester", role: "worker", namespaces: [namespace], queues: [] });
const local = createLocalClient(service.apis, { namespace, principal: "worker:tester", role: "worker" });
const { providers } = createProviderRegistry({ env: {} });
const worker = await startWorker({
  port: local,
  name: "executor-0",
  queues: ["default"],
  handlers: [...createModelHandlers({ providers }), ...createBuiltinTools({ workspace: config.workspace }), ...createTestHandlers(config.effectsFile)],
  slots: 64,
  onProblem: (error) => logger.warn({ err: error }, "a problem in the executor"),
});
ready({ connection: database.connection }, async () => {
  await worker.stop();
  await local.close();
  await service.close();
  await database.close();
});
