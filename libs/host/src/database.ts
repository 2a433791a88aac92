import { lockDirectory, migrate, type PostgresStoreOptions, startEmbedded } from "@forge/store-postgres";
import type { Logger } from "pino";

export interface DatabaseOptions {
  /** For the embedded server and for what lies beside the data. */
  readonly dataDirectory: string;
  /** A PostgreSQL of one's own, 15 or newer; absent: the embedded one. */
  readonly databaseUrl?: string;
  /** The same database past a pooler in transaction mode that `databaseUrl` goes through; absent: there is none. */
  readonly databaseDirectUrl?: string;
  readonly migrationsDirectory?: string;
  /** True for who only reads a database that a URL names, beside whoever serves the project; the embedded one is always for one process. */
  readonly shared?: boolean;
  readonly logger: Logger;
  readonly onProgress?: (message: string) => void;
}

export interface OpenDatabase {
  readonly connection: PostgresStoreOptions;
  close(): Promise<void>;
}

const RESTART_MS = 500;

/** A database that is up to date: the embedded server, started here and started again when it ends by itself, or the one that a URL names. */
export async function openDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  const { dataDirectory, databaseUrl, databaseDirectUrl, migrationsDirectory } = options;
  if (databaseUrl !== undefined) {
    const lock = options.shared === true ? undefined : await lockDirectory(dataDirectory);
    try {
      await migrate({ connectionString: databaseDirectUrl ?? databaseUrl, migrationsDirectory });
    } catch (error) {
      lock?.release();
      throw error;
    }
    return { connection: connectionTo(databaseUrl, databaseDirectUrl), close: async () => lock?.release() };
  }
  const embedded = await superviseEmbedded(options);
  try {
    await migrate({ ...embedded.connection, migrationsDirectory });
  } catch (error) {
    await embedded.close();
    throw error;
  }
  return embedded;
}

/** A pooler in transaction mode gives each transaction whatever connection is free: nothing can be prepared in it by name, and nothing can be heard through it. */
function connectionTo(databaseUrl: string, directUrl: string | undefined): PostgresStoreOptions {
  const connection = { connectionString: databaseUrl };
  return directUrl === undefined ? connection : { ...connection, namedStatements: false, listenOn: { connectionString: directUrl } };
}

async function superviseEmbedded({ dataDirectory, logger, onProgress }: DatabaseOptions): Promise<OpenDatabase> {
  let server = await startEmbedded({ dataDirectory, onProgress });
  let closing = false;
  const supervised = (async () => {
    for (;;) {
      const exit = await server.exited;
      if (closing) return;
      logger.error({ exit }, "the database server ended by itself: starting it again");
      await server.stop();
      while (!closing) {
        try {
          server = await startEmbedded({ dataDirectory });
          break;
        } catch (error) {
          logger.error({ err: error }, "the database server could not be started again");
          await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
        }
      }
      if (closing) return;
    }
  })();
  return {
    connection: server.connection,
    close: async () => {
      closing = true;
      await server.stop();
      await supervised;
      await server.stop();
    },
  };
}
