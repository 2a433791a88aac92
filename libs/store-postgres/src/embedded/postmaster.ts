import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Binaries } from "./binaries.ts";
import { programFailed } from "./embedded-error.ts";
import type { Launcher } from "./launcher.ts";
import { SHUTDOWN_STEPS } from "./orphan.ts";
import { poll } from "./poll.ts";
import { readPostmasterFile } from "./postmaster-file.ts";
import { programEnvironment } from "./program-environment.ts";
import type { ServerLog } from "./server-log.ts";
import { serverSettings } from "./settings.ts";
import { startWatchdog } from "./watchdog.ts";

/** How a server ended: an exit code, or the signal that killed it. */
export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A running server, child of this process. */
export interface Postmaster {
  readonly pid: number;
  /** Resolves when the server has ended, wanted or not. Never rejects. */
  readonly exited: Promise<ServerExit>;
  /** Ends it: fast, then without a checkpoint, then by force. Resolves when it has ended. */
  stop(): Promise<void>;
}

export interface PostmasterOptions {
  binaries: Binaries;
  launcher: Launcher;
  /** The server's own data directory. */
  cluster: string;
  runtimeDirectory: string;
  log: ServerLog;
  signal?: AbortSignal;
}

/** Recovery after a crash replays at most the log between two checkpoints, a gigabyte, before the server is ready. */
const START_DURATION_MS_MAX = 120_000;

/** Processes of a killed server notice its end when they next wait; one in the middle of a long statement takes longer. */
const REMNANTS_DURATION_MS_MAX = 15_000;

/** Starts the server and resolves when it accepts connections. Throws with the end of its log when it does not, and leaves nothing running then. */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  let postmaster: Postmaster | undefined;
  const started = await poll(
    async () => {
      postmaster = await launch(options);
      return postmaster !== undefined;
    },
    { deadlineMs: REMNANTS_DURATION_MS_MAX, intervalMs: 50, signal: options.signal },
  );
  if (started && postmaster !== undefined) return postmaster;
  throw programFailed("PostgreSQL could not start, because a process of a server that was killed still runs", options.cluster, await options.log.tail());
}

/** One attempt; undefined when it may succeed a little later. */
async function launch(options: PostmasterOptions): Promise<Postmaster | undefined> {
  const { cluster, launcher, log, signal } = options;
  const child = spawnServer(options);
  const exited = exitOf(child);
  const { pid } = child;
  if (pid === undefined) throw programFailed("PostgreSQL could not be started", cluster, (await exited).error?.message ?? "");
  const postmaster: Postmaster = { pid, exited, stop: () => stop(child, exited, cluster) };
  const watchdog = launcher.diesWithParent ? undefined : startWatchdog(pid);
  if (watchdog !== undefined) void exited.then(() => watchdog.release());
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const isReady = async (): Promise<boolean> => {
    const file = await readPostmasterFile(cluster);
    return file?.pid === pid && file.ready;
  };
  try {
    const settled = await poll(async () => !isRunning() || (await isReady()), { deadlineMs: START_DURATION_MS_MAX, signal });
    if (settled && isRunning()) {
      child.unref();
      return postmaster;
    }
    const said = await log.tail();
    if (/pre-existing shared memory block/.test(said.split("\n").slice(-4).join("\n")) && !isRunning()) return undefined;
    throw programFailed(settled ? "PostgreSQL could not start" : `PostgreSQL was not ready after ${START_DURATION_MS_MAX / 1000} s`, cluster, said);
  } catch (error) {
    await postmaster.stop();
    throw error;
  }
}

/**
 * In a session of its own, so that a Ctrl-C at the terminal reaches this process only, which then drains before it stops the server. Its process id is
 * the server's: every word before the program replaces itself by the next.
 */
function spawnServer({ binaries, launcher, cluster, runtimeDirectory, log }: PostmasterOptions): ChildProcess {
  const settings = Object.entries(serverSettings(runtimeDirectory)).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const [program = "", ...args] = [...launcher.prefix("INT"), binaries.postgres, "-D", cluster, ...settings];
  return spawn(program, args, { cwd: path.dirname(cluster), env: programEnvironment(), detached: true, stdio: ["ignore", log.fd, log.fd] });
}

async function exitOf(child: ChildProcess): Promise<ServerExit & { error?: Error }> {
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return { code, signal };
  } catch (error) {
    return { code: null, signal: null, error: error as Error };
  }
}

async function stop(child: ChildProcess, exited: Promise<ServerExit>, cluster: string): Promise<void> {
  child.ref();
  for (const [name, patienceMs] of SHUTDOWN_STEPS) {
    child.kill(name);
    if (await endsWithin(exited, patienceMs)) return;
  }
  throw programFailed(`PostgreSQL (process ${child.pid}) does not end, even by force`, cluster, "");
}

async function endsWithin(exited: Promise<ServerExit>, patienceMs: number): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([exited.then(() => true), delay(patienceMs, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
