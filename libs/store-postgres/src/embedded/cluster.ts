import { chown, lchown, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type Binaries, POSTGRES_MAJOR } from "./binaries.ts";
import { programFailed } from "./embedded-error.ts";
import type { Launcher } from "./launcher.ts";
import { programEnvironment } from "./program-environment.ts";
import { run } from "./run.ts";
import { USER } from "./settings.ts";
import { systemCode } from "./system-code.ts";

/** On a slow disk it takes seconds; what takes this long, in milliseconds, hangs. */
const INIT_DURATION_MS_MAX = 300_000;

const CLUSTER_NAME = `postgres-${POSTGRES_MAJOR}`;
const UNFINISHED_PREFIX = `${CLUSTER_NAME}.new-`;

export interface PrepareOptions {
  onProgress?: (message: string) => void;
  signal?: AbortSignal;
}

/**
 * The server's own data directory inside `dataDirectory`, made when it is not there yet. Call it under the directory's lock. It is made beside its
 * place, on disk before it is moved there, so an interrupted start leaves either all of it or something that the next start removes.
 */
export async function prepareCluster(dataDirectory: string, binaries: Binaries, launcher: Launcher, options: PrepareOptions): Promise<string> {
  const cluster = path.join(dataDirectory, CLUSTER_NAME);
  const entries = await readdir(dataDirectory);
  for (const entry of entries.filter((name) => name.startsWith(UNFINISHED_PREFIX))) {
    // The programs of a killed start may still be ending, and write while we remove.
    await rm(path.join(dataDirectory, entry), { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
  if (entries.includes(CLUSTER_NAME)) {
    const isOwned = await checkOwner(cluster, launcher);
    await checkVersion(cluster);
    if (!isOwned) await handOver(cluster, launcher);
    return cluster;
  }
  refuseOtherMajor(dataDirectory, entries);
  options.onProgress?.("Creating the database (first start only)");
  await initialize(cluster, dataDirectory, binaries, launcher, options);
  return cluster;
}

async function initialize(cluster: string, dataDirectory: string, { initdb }: Binaries, launcher: Launcher, { signal }: PrepareOptions): Promise<void> {
  const unfinished = path.join(dataDirectory, `${UNFINISHED_PREFIX}${process.pid}`);
  await mkdir(unfinished, { mode: 0o700 });
  try {
    if (launcher.uid !== process.getuid?.()) await chown(unfinished, launcher.uid, launcher.gid);
    const timeout = AbortSignal.timeout(INIT_DURATION_MS_MAX);
    const { code, output } = await run([...launcher.prefix("KILL"), initdb, ...initArguments(unfinished)], {
      cwd: dataDirectory,
      env: programEnvironment(),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (code !== 0) throw programFailed("PostgreSQL could not create its data directory", dataDirectory, output);
    await rename(unfinished, cluster);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    throw error;
  }
  await syncDirectory(dataDirectory);
}

/** The builtin locale sorts by code point and knows Unicode's letters, the same on every machine and after every upgrade of its C library. */
function initArguments(directory: string): string[] {
  return [
    `--pgdata=${directory}`,
    `--username=${USER}`,
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    // Who reaches the socket is its owner: the directory's permissions see to that. See makeRuntimeDirectory.
    "--auth-local=trust",
    "--auth-host=reject",
    "--no-instructions",
  ];
}

/** Makes the rename durable. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function checkVersion(cluster: string): Promise<void> {
  const version = await readFile(path.join(cluster, "PG_VERSION"), "utf8").catch((error: unknown) => {
    if (systemCode(error) !== "ENOENT") throw error;
    throw new ForgeError(
      ErrorCode.STORAGE_ERROR,
      `${cluster} holds no PostgreSQL data: its file PG_VERSION is missing. Restore it from a backup, or move it away to start anew.`,
      {
        reason: "DATA_DIRECTORY_BROKEN",
        origin: "control-plane",
        retryable: false,
      },
    );
  });
  if (version.trim() !== String(POSTGRES_MAJOR)) throw otherMajor(cluster, version.trim());
}

/** An empty new database beside a full old one would look like lost data. */
function refuseOtherMajor(dataDirectory: string, entries: readonly string[]): void {
  for (const entry of entries) {
    const major = /^postgres-(\d+)$/.exec(entry)?.[1];
    if (major !== undefined) throw otherMajor(path.join(dataDirectory, entry), major);
  }
}

function otherMajor(cluster: string, major: string): ForgeError {
  return new ForgeError(
    ErrorCode.UNSUPPORTED_VERSION,
    `${cluster} holds data of PostgreSQL ${major}, and this release of Forge runs PostgreSQL ${POSTGRES_MAJOR}. Export the data with the release that wrote it and import it here, or choose another directory.`,
    { reason: "DATA_DIRECTORY_VERSION", origin: "control-plane", metadata: { found: major, expected: String(POSTGRES_MAJOR) } },
  );
}

/** Whether the files belong to the user that the server runs as, which it insists on. Throws when they don't and can't be handed over. */
async function checkOwner(cluster: string, launcher: Launcher): Promise<boolean> {
  const { uid } = await stat(cluster);
  if (uid === launcher.uid || process.getuid?.() === 0) return uid === launcher.uid;
  throw new ForgeError(
    ErrorCode.PERMISSION_DENIED,
    `${cluster} belongs to user ${uid}, and this process runs as user ${process.getuid?.()}. Run as that user, or change the owner with \`chown -R\`.`,
    { reason: "DATA_DIRECTORY_OWNER", origin: "control-plane" },
  );
}

/** Gives the files to the server's user, after root has started it in another way before. */
async function handOver(cluster: string, { uid, gid }: Launcher): Promise<void> {
  for (const entry of await readdir(cluster, { recursive: true })) await lchown(path.join(cluster, entry), uid, gid);
  // The directory itself comes last: its owner says that all is done.
  await lchown(cluster, uid, gid);
}
