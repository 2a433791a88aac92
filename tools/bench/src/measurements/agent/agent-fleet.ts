import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createConnectClient, type ForgeClient } from "@forge/client";
import type { PostgresConnection } from "@forge/store-postgres";
import { Child } from "../../server/child.ts";
import type { Writes } from "../../server/counting-store.ts";
import type { ExecutorConfig, ServerConfig, ServerReady } from "../../server/messages.ts";
import { ScriptedProvider } from "./scripted-provider.ts";

/** As `forge up` has it: a control plane with the executor of models in one process, the tools in another. The provider and a client are in this one. */
export interface AgentFleet {
  readonly client: ForgeClient;
  readonly provider: ScriptedProvider;
  /** Where the tools write. */
  readonly project: string;
  readonly bareUrl: string;
  writes(): Promise<Writes>;
  close(): Promise<void>;
}

export async function startAgentFleet(connection: PostgresConnection): Promise<AgentFleet> {
  const cleanup = new AsyncDisposableStack();
  try {
    const project = await mkdtemp(path.join(tmpdir(), "forge-bench-agent-"));
    cleanup.defer(() => rm(project, { recursive: true, force: true }));
    const provider = await ScriptedProvider.start();
    cleanup.defer(() => provider.close());
    const config: ServerConfig = { connection, project, models: { OPENAI_BASE_URL: provider.baseUrl } };
    const server = await Child.start<ServerReady>(new URL("../../server/server-process.ts", import.meta.url), config);
    cleanup.defer(() => server.stop());
    const { url, clientToken, workerToken, bareUrl } = server.ready;
    const toolsConfig: ExecutorConfig = { url, token: workerToken, project };
    const tools = await Child.start(new URL("./tools-process.ts", import.meta.url), toolsConfig);
    cleanup.defer(() => tools.stop());
    const client = createConnectClient({ url, token: clientToken });
    cleanup.defer(() => client.close());
    return { client, provider, project, bareUrl, writes: async () => (await server.writes()).writes, close: () => cleanup.disposeAsync() };
  } catch (error) {
    await cleanup.disposeAsync();
    throw error;
  }
}
