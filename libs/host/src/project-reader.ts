import { createLocalClient, type ForgeClient } from "@forge/client";
import { createControlPlane } from "@forge/engine";
import { createPostgresStore } from "@forge/store-postgres";
import type { Logger } from "pino";
import { makeDataDirectory } from "./data-origin.ts";
import { openDatabase } from "./database.ts";
import { dataDirectoryOf } from "./project-paths.ts";

export interface ProjectReaderOptions {
  /** The project's root. */
  readonly root: string;
  readonly databaseUrl?: string;
  /** As `DatabaseOptions` has it. */
  readonly databaseDirectUrl?: string;
  readonly logger: Logger;
  readonly onProgress?: (message: string) => void;
}

/** What a project's streams say, without anything that would make them go on: no executor, no port, no address. */
export interface ProjectReader {
  readonly client: ForgeClient;
  close(): Promise<void>;
}

/** Opens a project's database to read. Errors: conflict DATA_DIRECTORY_IN_USE where another process serves the embedded one. */
export async function startProjectReader(options: ProjectReaderOptions): Promise<ProjectReader> {
  const { root, databaseUrl, databaseDirectUrl, logger, onProgress } = options;
  const cleanup = new AsyncDisposableStack();
  try {
    const dataDirectory = dataDirectoryOf(root);
    await makeDataDirectory(dataDirectory);
    const database = await openDatabase({ dataDirectory, databaseUrl, databaseDirectUrl, logger, onProgress, shared: true });
    cleanup.defer(() => database.close());
    const store = await createPostgresStore(database.connection);
    cleanup.defer(() => store.close());
    const apis = await createControlPlane({
      store,
      dispatches: false,
      onProblem: (error, where) => logger.error({ err: error, where }, "a problem in the engine"),
    });
    cleanup.defer(() => apis.close());
    const client = createLocalClient(apis, { namespace: "default", principal: "cli" });
    cleanup.defer(() => client.close());
    return { client, close: () => cleanup.disposeAsync() };
  } catch (error) {
    await cleanup.disposeAsync();
    throw error;
  }
}
