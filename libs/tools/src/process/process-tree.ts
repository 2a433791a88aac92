import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Enclosure } from "./enclosure.ts";
import { detectIsolation, type Isolation, isolatedCommand, WATCHDOG_DESCRIPTOR } from "./isolation.ts";
import { childNamespace, isKeeper, markedMembers, namespaceMembers } from "./tree-members.ts";
import { within } from "./within.ts";

/** How long after SIGKILL emptiness is looked for: a process in an uninterruptible system call may take this long, rarely longer. */
const KILL_CONFIRMATION_MS = 5_000;
/** How long a namespace's init may take to end after its command was killed; it is killed then. */
const INIT_KILL_DELAY_MS = 1_000;
/** Between two looks. */
const LOOK_INTERVAL_MS = 10;

/** What to start. */
export interface ProcessTreeOptions {
  readonly cwd: string;
  /** The whole environment; see childEnvironment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Of descriptors 0 to at most 8. */
  readonly stdio: readonly ("ignore" | "pipe")[];
  /** Absent: the strongest that works here. */
  readonly isolation?: Isolation;
  /** Absent: the command sees what this process sees. */
  readonly enclosure?: Enclosure;
}

/** How the tree's first process ended; by the shell's convention, an exit code of 128 + n may stand for signal n. */
export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * A started process with all its descendants. It also ends when this process dies, however that happens; and, as the kernel counts parents by thread, when the
 * thread ends that started it.
 */
export interface ProcessTree {
  readonly child: ChildProcess;
  /** Resolves when the first process has ended; never rejects. Descendants may be left until `stop` has resolved. */
  readonly exited: Promise<ProcessExit>;
  /**
   * Ends the tree: SIGTERM to every member, SIGKILL to what is left after the grace; a first process that has ended gets its descendants killed at once.
   * Resolves to whether the tree is known to be empty. May be called again; it is needed also after a normal exit.
   */
  stop(options: { graceMs: number }): Promise<boolean>;
}

let detected: Promise<Isolation> | undefined;

/** The strongest isolation that works here; looked for once per process. */
export function defaultIsolation(): Promise<Isolation> {
  detected ??= detectIsolation((isolation, command) =>
    startProcessTree(command, { cwd: "/", environment: { PATH: process.env.PATH ?? "" }, stdio: ["ignore", "pipe", "ignore"], isolation }),
  );
  return detected;
}

/** Starts a command as the leader of a tree of its own. Rejects when it cannot be spawned at all (for example, the directory is missing). */
export async function startProcessTree(command: readonly string[], options: ProcessTreeOptions): Promise<ProcessTree> {
  const isolation = options.isolation ?? (await defaultIsolation());
  const mark = randomUUID();
  const stdio: StdioOptions = [...options.stdio];
  if (isolation.kind === "marked") {
    while (stdio.length < WATCHDOG_DESCRIPTOR) stdio.push("ignore");
    stdio.push("pipe");
  }
  const { cwd, environment } = options;
  const enclosed = options.enclosure?.enclose(command, { cwd, environment });
  for (const [number, descriptor] of enclosed?.descriptors ?? []) {
    while (stdio.length <= number) stdio.push("ignore");
    stdio[number] = descriptor;
  }
  const [file, ...parameters] = isolatedCommand(isolation, enclosed?.command ?? command, mark);
  let child: ChildProcess;
  try {
    // Detached: a session of its own, so that a Ctrl-C at the terminal reaches the owner alone, which then stops the tree in order.
    child = spawn(file as string, parameters, { cwd, env: enclosed?.environment ?? environment, stdio, detached: true });
  } finally {
    enclosed?.close();
  }
  let exit: ProcessExit | undefined;
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once("exit", (exitCode, signal) => {
      exit = { exitCode, signal };
      resolve(exit);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  // An error after the spawn can only be a failed kill, which `stop` notices by itself.
  child.on("error", () => {});
  const started: Started = { pid: child.pid as number, exited, exit: () => exit };
  if (isolation.kind === "namespace") return { child, exited, stop: namespaceStop(started) };
  const watchdog = child.stdio.at(WATCHDOG_DESCRIPTOR);
  watchdog?.on("error", () => {});
  return { child, exited, stop: markedStop(started, mark, () => watchdog?.destroy()) };
}

interface Started {
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  /** Undefined while the first process runs. */
  exit(): ProcessExit | undefined;
}

/**
 * `unshare` waits for the namespace's init, and the kernel lets an init be waited for only when everything else in the namespace has gone: so an exit of
 * `unshare` by itself proves emptiness. Only when it was killed, the namespace has to be looked at.
 */
function namespaceStop(started: Started): ProcessTree["stop"] {
  let namespace: string | undefined;
  const signalMembers = async (signal: NodeJS.Signals, options: { keepers: boolean }): Promise<void> => {
    namespace ??= await childNamespace(started.pid);
    const members = namespace === undefined ? [] : await namespaceMembers(namespace);
    for (const member of members) {
      if (options.keepers || !(await isKeeper(member))) signalProcess(member, signal);
    }
  };
  return async ({ graceMs }) => {
    if (started.exit() === undefined && graceMs > 0) {
      await signalMembers("SIGTERM", { keepers: false });
      await within(started.exited, graceMs);
    }
    const killedAt = performance.now();
    const deadline = killedAt + KILL_CONFIRMATION_MS;
    while (started.exit() === undefined) {
      const now = performance.now();
      if (now >= deadline) return false;
      // Init ends in order when its command has been killed, and the kernel then kills what is left. Killing what holds it together comes later, because `unshare`
      // complains about that in the command's name.
      await signalMembers("SIGKILL", { keepers: now >= killedAt + INIT_KILL_DELAY_MS });
      await within(started.exited, LOOK_INTERVAL_MS);
    }
    if (started.exit()?.signal === null) return true;
    if (namespace === undefined) return false;
    while ((await namespaceMembers(namespace)).length > 0) {
      if (performance.now() >= deadline) return false;
      await delay(LOOK_INTERVAL_MS);
    }
    return true;
  };
}

function markedStop(started: Started, mark: string, releaseWatchdog: () => void): ProcessTree["stop"] {
  return async ({ graceMs }) => {
    if (started.exit() === undefined && graceMs > 0) {
      for (const member of await markedMembers(mark, started.pid)) signalProcess(member, "SIGTERM");
      await within(started.exited, graceMs);
    }
    const deadline = performance.now() + KILL_CONFIRMATION_MS;
    for (;;) {
      // A member may fork between being listed and being killed, so it is looked again until nothing was found.
      const members = await markedMembers(mark, started.pid);
      if (members.length === 0 && started.exit() !== undefined) break;
      if (performance.now() >= deadline) return false;
      for (const member of members) signalProcess(member, "SIGKILL");
      await within(started.exited, LOOK_INTERVAL_MS);
    }
    releaseWatchdog();
    return true;
  };
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH: it has gone meanwhile. EPERM: it is somebody else's now. Whoever called looks again.
  }
}
