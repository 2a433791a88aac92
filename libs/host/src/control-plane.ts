import { type ControlPlane, type ControlPlaneOptions, createControlPlane } from "@forge/engine";
import type { Store } from "@forge/engine/ports";
import { type Server, startServer } from "@forge/rpc";
import { createPostgresStore, type PostgresStoreOptions } from "@forge/store-postgres";
import type { Logger } from "pino";

export interface ControlPlaneServiceOptions {
  readonly connection: PostgresStoreOptions;
  /** Absent: 127.0.0.1. */
  readonly host?: string;
  /** 0: any free one. */
  readonly port: number;
  /** Browser origins that may call. */
  readonly origins?: readonly string[];
  /** Host names, beside those of loopback, under which it is reached. */
  readonly hosts?: readonly string[];
  readonly logger: Logger;
  /** How long a lease lasts without a heartbeat; absent: the engine's default. */
  readonly leaseTtlMs?: number;
  /** Bytes that may wait for one subscriber; absent: the engine's default. */
  readonly subscriberBytesMax?: number;
  /** Event formats that it knows; absent: this version's. */
  readonly formats?: ControlPlaneOptions["formats"];
  /** What becomes of runs that have ended; absent: they stay as they are. */
  readonly retention?: ControlPlaneOptions["retention"];
}

/** A control plane that listens. */
export interface ControlPlaneService {
  readonly url: string;
  readonly store: Store;
  /** Its services as plain functions, for callers in this process. */
  readonly apis: ControlPlane;
  /** Calls that clients, not workers, have open, and when the last one ended. */
  readonly activity: Server["activity"];
  close(): Promise<void>;
}

/** Starts the engine on a database that is up to date, and serves it. */
export async function startControlPlane(options: ControlPlaneServiceOptions): Promise<ControlPlaneService> {
  const { connection, logger } = options;
  const store = await createPostgresStore(connection);
  let apis: ControlPlane | undefined;
  try {
    apis = await createControlPlane({
      store,
      leaseTtlMs: options.leaseTtlMs,
      subscriberBytesMax: options.subscriberBytesMax,
      formats: options.formats,
      retention: options.retention,
      onProblem: (error, where) => logger.error({ err: error, where }, "a problem in the engine"),
    });
    const server = await startServer({
      apis,
      findPrincipal: (hash) => store.findPrincipal(hash),
      host: options.host,
      port: options.port,
      origins: options.origins,
      hosts: options.hosts,
      onBug: (error, id) => logger.error({ err: error, id }, "an internal error"),
    });
    const engine = apis;
    return {
      url: server.url,
      store,
      apis: engine,
      activity: server.activity,
      close: async () => {
        await server.close();
        await engine.close();
        await store.close();
      },
    };
  } catch (error) {
    await apis?.close();
    await store.close();
    throw error;
  }
}
