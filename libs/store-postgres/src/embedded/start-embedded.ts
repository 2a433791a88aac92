import { mkdir, realpath, rm } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import pg from "pg";
import { locateBinaries } from "./binaries.ts";
import { prepareCluster } from "./cluster.ts";
import { lockDirectory } from "./directory-lock.ts";
import { toForgeError } from "./embedded-error.ts";
import { chooseLauncher, type Launcher } from "./launcher.ts";
import { endOrphan } from "./orphan.ts";
import { type ServerExit, startPostmaster } from "./postmaster.ts";
import { makeRuntimeDirectory } from "./runtime-directory.ts";
import { openServerLog } from "./server-log.ts";
import { DATABASE, PORT, USER } from "./settings.ts";

export interface EmbeddedOptions {
  /** Where everything durable goes, at most 900 bytes as an absolute path. Made when it is missing; a relative path starts at the working directory. */
  dataDirectory: string;
  /** Told in a few words what takes time; at most a handful of calls. */
  onProgress?: (message: string) => void;
  /** Gives the start up. It does not stop a server that has started. */
  signal?: AbortSignal;
}

/** How to reach the server; fits `new pg.Pool(connection)`. It is the same at every start on a data directory, so a pool survives a restart. */
export interface EmbeddedConnection {
  /** The directory of the Unix socket. */
  host: string;
  port: number;
  user: string;
  database: string;
  /** Never on a socket, whatever PGSSLMODE says. */
  ssl: false;
}

export interface EmbeddedServer {
  readonly connection: EmbeddedConnection;
  /** The absolute path, without symbolic links. */
  readonly dataDirectory: string;
  readonly pid: number;
  /** Resolves when the server has ended, by `stop` or by itself; after the latter call `stop`, and then start again. Never rejects. */
  readonly exited: Promise<ServerExit>;
  /** Ends the server and gives the data directory free. Takes tens of milliseconds, at most 45 s. Every call gets the same answer. */
  stop(): Promise<void>;
}

/** PostgreSQL cuts paths off at 1,024 bytes without a word; its own files need the rest. */
const DATA_DIRECTORY_BYTES_MAX = 900;
const CONNECT_DURATION_MS_MAX = 10_000;

/**
 * Starts a PostgreSQL server of this process's own on a data directory, and makes the directory and the database when they are not there yet. It takes
 * about 0.2 s, the first time a second more. The server dies with this process, kill -9 included; it does not keep this process alive.
 *
 * Throws a ForgeError: `conflict` DATA_DIRECTORY_IN_USE, `unsupported` EMBEDDED_DATABASE_UNSUPPORTED, `unsupported_version` DATA_DIRECTORY_VERSION,
 * `permission_denied`, `resource_exhausted` DISK_FULL, `validation`, `cancelled`, or `storage_error` with the end of the server's log. Nothing is left
 * running then.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  return startEmbeddedWith(options, await chooseLauncher());
}

/** As `startEmbedded`, with the way to launch programs given. */
export async function startEmbeddedWith(options: EmbeddedOptions, launcher: Launcher): Promise<EmbeddedServer> {
  const { signal, onProgress } = options;
  const cleanup = new AsyncDisposableStack();
  try {
    const dataDirectory = await makeDataDirectory(options.dataDirectory);
    const binaries = await locateBinaries();
    const lock = await lockDirectory(dataDirectory);
    cleanup.defer(() => lock.release());
    const cluster = await prepareCluster(dataDirectory, binaries, launcher, options);
    await endOrphan(cluster, launcher, options);
    const runtimeDirectory = await makeRuntimeDirectory(dataDirectory, launcher);
    cleanup.defer(() => rm(runtimeDirectory, { recursive: true, force: true }));
    const log = await openServerLog(dataDirectory);
    cleanup.defer(() => log.close());
    onProgress?.("Starting the database");
    const postmaster = await startPostmaster({ binaries, launcher, cluster, runtimeDirectory, log, signal });
    cleanup.defer(() => postmaster.stop());
    const connection: EmbeddedConnection = { host: runtimeDirectory, port: PORT, user: USER, database: DATABASE, ssl: false };
    await createDatabase(connection);
    signal?.throwIfAborted();
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> => {
      stopped ??= cleanup.disposeAsync();
      return stopped;
    };
    return { connection, dataDirectory, pid: postmaster.pid, exited: postmaster.exited, stop };
  } catch (error) {
    await cleanup.disposeAsync();
    throw toForgeError(error, options.dataDirectory, signal);
  }
}

/** Makes the directory, for its owner only, and answers its one true path, by which processes recognize each other's server. */
async function makeDataDirectory(dataDirectory: string): Promise<string> {
  const absolute = path.resolve(dataDirectory);
  if (dataDirectory === "" || absolute.includes("\0")) throw ForgeError.validation("data_directory", "The data directory must be a path.");
  await mkdir(path.dirname(absolute), { recursive: true });
  await mkdir(absolute, { mode: 0o700, recursive: true });
  const real = await realpath(absolute);
  const bytes = Buffer.byteLength(real);
  if (bytes > DATA_DIRECTORY_BYTES_MAX) {
    throw ForgeError.validation("data_directory", `The path of the data directory has ${bytes} bytes, and at most ${DATA_DIRECTORY_BYTES_MAX} work: ${real}`);
  }
  return real;
}

/** Makes the database unless it is there. A start that was interrupted before this leaves it to the next one. */
async function createDatabase(connection: EmbeddedConnection): Promise<void> {
  const client = new pg.Client({ ...connection, database: "postgres", connectionTimeoutMillis: CONNECT_DURATION_MS_MAX });
  // A connection that breaks also fails the query in flight, which is where it is told.
  client.on("error", () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(DATABASE)}`);
  } finally {
    await client.end();
  }
}
