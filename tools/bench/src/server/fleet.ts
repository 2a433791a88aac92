import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createConnectClient, type ForgeClient } from "@forge/client";
import type { PostgresConnection } from "@forge/store-postgres";
import { Child } from "./child.ts";
import type { ExecutorConfig, ListingAnswer, MemoryAnswer, ServerConfig, ServerReady, WritesAnswer } from "./messages.ts";

const FUNCTIONS = "export function nothing() {\n  return { done: true };\n}\n";

/** A control plane with its executor, in processes of their own, and a client of it in this one. */
export interface Fleet {
  readonly client: ForgeClient;
  readonly url: string;
  readonly clientToken: string;
  readonly workerToken: string;
  readonly bareUrl: string;
  writes(): Promise<WritesAnswer>;
  /** The newest statement that read a list, as the control plane sent it. */
  listing(): Promise<ListingAnswer>;
  memory(): Promise<MemoryAnswer>;
  /** kill -9 of the control plane, and of the executor inside it. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/**
 * `inside`: as in `forge up`, the executor calls the control plane directly. `apart`: it is another process and calls it over Connect. `functions` is the module
 * that steps call as `bench`. `listenOn`: the connection is through a pooler, and this one past it.
 */
export async function startFleet(
  connection: PostgresConnection,
  executor: "inside" | "apart",
  functions = FUNCTIONS,
  listenOn?: PostgresConnection,
): Promise<Fleet> {
  const cleanup = new AsyncDisposableStack();
  try {
    const project = await mkdtemp(path.join(tmpdir(), "forge-bench-project-"));
    cleanup.defer(() => rm(project, { recursive: true, force: true }));
    await mkdir(path.join(project, "functions"));
    await writeFile(path.join(project, "functions", "bench.ts"), functions);
    const serverConfig: ServerConfig = { connection, ...(listenOn !== undefined && { listenOn }), ...(executor === "inside" && { project }) };
    const server = await Child.start<ServerReady>(new URL("./server-process.ts", import.meta.url), serverConfig);
    cleanup.defer(() => server.stop());
    const { url, clientToken, workerToken, bareUrl } = server.ready;
    if (executor === "apart") {
      const config: ExecutorConfig = { url, token: workerToken, project };
      const process = await Child.start(new URL("./executor-process.ts", import.meta.url), config);
      cleanup.defer(() => process.stop());
    }
    const client = createConnectClient({ url, token: clientToken });
    cleanup.defer(() => client.close());
    return {
      client,
      url,
      clientToken,
      workerToken,
      bareUrl,
      writes: () => server.writes(),
      listing: () => server.listing(),
      memory: () => server.memory(),
      kill: () => server.kill(),
      close: () => cleanup.disposeAsync(),
    };
  } catch (error) {
    await cleanup.disposeAsync();
    throw error;
  }
}
