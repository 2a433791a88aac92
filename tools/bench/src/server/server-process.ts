import path from "node:path";
import { createLocalClient } from "@forge/client";
import { createControlPlane } from "@forge/engine";
import { grant, newToken, startExecutor } from "@forge/host";
import { startServer } from "@forge/rpc";
import { createPostgresStore } from "@forge/store-postgres";
import { startBareServer } from "./bare-server.ts";
import { countStatements } from "./count-statements.ts";
import { countWrites } from "./counting-store.ts";
import { configOf, logger, serve } from "./entry.ts";
import type { ServerConfig, ServerReady } from "./messages.ts";

// A control plane, with or without an executor in its process, as `forge up` has them; its store counts what is written.

const NAMESPACE = "default";
/** Several may share a database, where a worker and a credential have their names for themselves. */
const NAME = `bench-${process.pid}`;
const { connection, listenOn, project, models } = configOf<ServerConfig>();
const cleanup = new AsyncDisposableStack();
const statements = countStatements();
const counting = countWrites(await createPostgresStore({ ...connection, ...(listenOn !== undefined && { listenOn, namedStatements: false }) }));
const { store } = counting;
cleanup.defer(() => store.close());
const apis = await createControlPlane({ store, onProblem: (error, where) => logger.error({ err: error, where }, "a problem in the engine") });
cleanup.defer(() => apis.close());
const server = await startServer({
  apis,
  findPrincipal: (hash) => store.findPrincipal(hash),
  port: 0,
  onBug: (error) => logger.error({ err: error }, "an internal error"),
});
cleanup.defer(() => server.close());
const bare = await startBareServer();
cleanup.defer(() => bare.close());
if (project !== undefined) {
  const port = createLocalClient(apis, { namespace: NAMESPACE, principal: `worker:${NAME}`, role: "worker" });
  cleanup.defer(() => port.close());
  const functionsDirectory = path.join(project, "functions");
  const executor = await startExecutor({
    port,
    name: NAME,
    queues: ["default"],
    workspace: project,
    ...(models === undefined ? { functionsDirectory, environment: {} } : { environment: models, servesTools: false }),
    logger,
  });
  cleanup.defer(() => executor.stop());
}
const [clientToken, workerToken] = [newToken(), newToken()];
await grant(store, clientToken, { id: NAME, role: "admin", namespaces: [NAMESPACE], queues: [] });
await grant(store, workerToken, { id: `worker:${NAME}`, role: "worker", namespaces: [NAMESPACE], queues: ["default"] });
const ready: ServerReady = { type: "ready", url: server.url, clientToken, workerToken, bareUrl: bare.url };
serve(ready, { stop: () => cleanup.disposeAsync(), writes: () => counting.writes(), statements });
