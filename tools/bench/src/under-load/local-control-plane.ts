import { createLocalClient, type ForgeClient } from "@forge/client";
import { createControlPlane } from "@forge/engine";
import { createPostgresStore, type PostgresConnection } from "@forge/store-postgres";

/** One more control plane of a database, in this process, which dispatches nothing; the stack ends it. `cacheMax`: streams that it keeps in memory. */
export async function openLocal(stack: AsyncDisposableStack, connection: PostgresConnection, cacheMax: number): Promise<ForgeClient> {
  const store = await createPostgresStore(connection);
  stack.defer(() => store.close());
  const apis = await createControlPlane({
    store,
    dispatches: false,
    cacheMax,
    onProblem: (error) => {
      throw error;
    },
  });
  stack.defer(() => apis.close());
  const client = createLocalClient(apis, { namespace: "default", principal: "bench" });
  stack.defer(() => client.close());
  return client;
}
