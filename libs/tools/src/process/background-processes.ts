import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { BoundedOutput } from "./bounded-output.ts";
import { childEnvironment } from "./environment.ts";
import { type ProcessExit, type ProcessTree, startProcessTree } from "./process-tree.ts";
import { capture, type RunProcessOptions } from "./run-process.ts";
import { systemProgram } from "./system-program.ts";

/** Of one session at once, the ended ones not counted: a server or two and a watcher are what people need. */
const RUNNING_MAX = 8;
/** Of one session, ended ones that can still be looked at; the oldest are forgotten. */
const ENDED_MAX = 16;
/** Of each process, of what it printed. */
const OUTPUT_BYTES_MAX = 64 * 1024;
/** One that belongs to a turn lives no longer, because nothing tells a worker that a turn has ended before the session's next call. */
const OF_TURN_MS_MAX = 60 * 60 * 1000;
const GRACE_MS = 2_000;

/** Whose a background process is. */
export interface BackgroundOwner {
  readonly sessionId: string;
  readonly turnId: string;
}

/** Of a call: the session and its turn; or the run, whose steps go on beside each other. */
export function backgroundOwner({ sessionId, turnId, runId }: { sessionId: string; turnId: string; runId: string }): BackgroundOwner {
  return sessionId === "" ? { sessionId: `run:${runId}`, turnId: "" } : { sessionId, turnId };
}

/** A background process, as it is told. */
export interface BackgroundProcess {
  readonly id: string;
  readonly command: string;
  readonly status: "running" | "exited" | "stopped";
  readonly exitCode: number | null;
  readonly startedAt: Date;
  /** It outlives its turn. */
  readonly ofSession: boolean;
  /** What it printed, both streams as they came, the first and last 32 KiB. */
  readonly output: string;
}

interface Entry {
  readonly id: string;
  readonly owner: BackgroundOwner;
  readonly ofSession: boolean;
  readonly command: string;
  readonly startedAt: Date;
  readonly tree: ProcessTree;
  readonly output: BoundedOutput;
  readonly timer: NodeJS.Timeout | undefined;
  exit: ProcessExit | undefined;
  isStopped: boolean;
}

/** Processes that go on when the call that started them has ended. They end with this object, and with the worker's process whatever becomes of it. */
export class BackgroundProcesses {
  readonly #entries = new Map<string, Entry>();
  #count = 0;

  /** Starts a command that belongs to the turn, or to the session. Throws resource_exhausted where there are too many. */
  async start(
    options: Pick<RunProcessOptions, "command" | "cwd" | "environment" | "enclosure" | "scrubber">,
    owner: BackgroundOwner,
    ofSession: boolean,
    onEnded: () => Promise<void> = async () => {},
  ): Promise<BackgroundProcess> {
    if (this.#of(owner.sessionId).filter(({ exit }) => exit === undefined).length >= RUNNING_MAX) {
      const message = `${RUNNING_MAX} commands of this session run in the background; stop one of them`;
      throw new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, message, { reason: "TOO_MANY_PROCESSES", retryable: false, origin: "tool" });
    }
    const { command } = options;
    const tree = await startProcessTree(typeof command === "string" ? [systemProgram("sh") ?? "sh", "-c", command] : command, {
      cwd: options.cwd,
      environment: childEnvironment(options.environment),
      stdio: ["ignore", "pipe", "pipe"],
      enclosure: options.enclosure,
    });
    const id = `p${++this.#count}`;
    const timer = ofSession ? undefined : setTimeout(() => void this.stop(owner.sessionId, id), OF_TURN_MS_MAX).unref();
    const entry: Entry = {
      id,
      owner,
      ofSession,
      tree,
      timer,
      exit: undefined,
      isStopped: false,
      command: typeof command === "string" ? command : command.join(" "),
      startedAt: new Date(),
      output: new BoundedOutput(OUTPUT_BYTES_MAX),
    };
    this.#entries.set(id, entry);
    void capture(tree, "stdout", entry.output, options);
    void capture(tree, "stderr", entry.output, options);
    void tree.exited.then(async (exit) => {
      clearTimeout(timer);
      // What it left behind itself.
      await tree.stop({ graceMs: 0 });
      // Whoever looks at the process next wants to know how it ended, whatever became of that.
      await onEnded().catch(() => {});
      entry.exit = exit;
      this.#forget(owner.sessionId);
    });
    return told(entry);
  }

  /** Those of a session, the oldest first. */
  list(sessionId: string): BackgroundProcess[] {
    return this.#of(sessionId).map(told);
  }

  /** Throws not_found for what is no process of this session. */
  get(sessionId: string, id: string): BackgroundProcess {
    return told(this.#entry(sessionId, id));
  }

  /** Resolves when nothing of it is left, to what is told of it then; and to whether that is known. */
  async stop(sessionId: string, id: string): Promise<{ process: BackgroundProcess; confirmed: boolean }> {
    const entry = this.#entry(sessionId, id);
    if (entry.exit === undefined) entry.isStopped = true;
    clearTimeout(entry.timer);
    const confirmed = await entry.tree.stop({ graceMs: GRACE_MS });
    if (confirmed) entry.exit ??= await entry.tree.exited;
    return { process: told(entry), confirmed };
  }

  /** Ends what belongs to a turn of the session other than this one: a session has one turn at a time. */
  async turnBegan({ sessionId, turnId }: BackgroundOwner): Promise<void> {
    await this.#stopAll(this.#of(sessionId).filter((entry) => !entry.ofSession && entry.owner.turnId !== turnId));
  }

  /** Ends what belongs to the turn. */
  async turnEnded({ sessionId, turnId }: BackgroundOwner): Promise<void> {
    await this.#stopAll(this.#of(sessionId).filter((entry) => !entry.ofSession && entry.owner.turnId === turnId));
  }

  /** Ends what belongs to the session. */
  async sessionEnded(sessionId: string): Promise<void> {
    await this.#stopAll(this.#of(sessionId));
  }

  async close(): Promise<void> {
    await this.#stopAll([...this.#entries.values()]);
  }

  async #stopAll(entries: readonly Entry[]): Promise<void> {
    await Promise.all(entries.filter(({ exit }) => exit === undefined).map(({ owner, id }) => this.stop(owner.sessionId, id)));
  }

  #of(sessionId: string): Entry[] {
    return [...this.#entries.values()].filter(({ owner }) => owner.sessionId === sessionId);
  }

  #entry(sessionId: string, id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.owner.sessionId !== sessionId) {
      throw new ForgeError(ErrorCode.NOT_FOUND, `no command ${id} was started in the background of this session`, {
        reason: "PROCESS_NOT_FOUND",
        origin: "tool",
      });
    }
    return entry;
  }

  #forget(sessionId: string): void {
    const ended = this.#of(sessionId).filter(({ exit }) => exit !== undefined);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - ENDED_MAX))) this.#entries.delete(id);
  }
}

function told({ id, command, startedAt, ofSession, exit, isStopped, output }: Entry): BackgroundProcess {
  const status = exit === undefined ? "running" : isStopped ? "stopped" : "exited";
  return { id, command, startedAt, ofSession, status, exitCode: exit?.exitCode ?? null, output: output.captured().text };
}
