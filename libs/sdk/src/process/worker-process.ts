import { type ChildProcess, spawn } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { type Capability, CapabilitySchema, LeasedTaskSchema, OutputDeltaSchema, SettlementSchema } from "@forge/protocol/worker";
import type { Outcome, TaskContext } from "@forge/worker";
import { answerRequest } from "./answer-request.ts";
import { capabilityKey } from "./capability-key.ts";
import { lostOutcome } from "./lost-outcome.ts";
import { type FromChild, type LogLevel, sourceStamp, type ToChild } from "./messages.ts";
import type { ProcessExit } from "./process-exit.ts";

/** Between a call's signal and the end of its process. */
const GRACE_MS = 2_000;
/** What else runs in a process that must end gets so long to finish: whoever cancelled waits for it. */
const OTHERS_MS = 10_000;
/** Importing a file takes moments; one that waits for something at its top may take longer. */
const LOAD_MS_MAX = 30_000;
/** How long the streams of a process that has ended may take to be read to their end. */
const DRAIN_MS = 1_000;
/** What the process printed last, kept to explain its end. */
const LAST_WORDS_MAX = 1_000;

/** What a process says beside the answers of its calls. */
export interface ProcessListener {
  onOutput(stream: "stdout" | "stderr", line: string): void;
  onLog(level: LogLevel, message: string): void;
  /** It is about to read this file. */
  onSource(path: string): void;
  /** A call has not stopped: the process takes no more and will end. */
  onSpent(process: WorkerProcess): void;
}

interface Running {
  readonly context: TaskContext;
  readonly resolve: (outcome: Outcome) => void;
  /** Whether the go-ahead was asked for, after which an effect may have happened. */
  started: boolean;
  reported: boolean;
  stuck: boolean;
  /** Until it counts as stuck. */
  grace: NodeJS.Timeout | undefined;
}

/** A process that has imported a file and performs calls of what it defines, any number at once. Its end is the end of all of them. */
export class WorkerProcess {
  readonly file: string;
  readonly capabilities: readonly Capability[];
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcess;
  readonly #sources: ReadonlyMap<string, string>;
  readonly #listener: ProcessListener;
  readonly #handlers: ReadonlyMap<string, number>;
  readonly #calls = new Map<number, Running>();
  #next = 1;
  #retired = false;
  #lastResort: NodeJS.Timeout | undefined;

  private constructor(file: string, loading: Loading, capabilities: readonly Capability[], listener: ProcessListener) {
    this.file = file;
    this.capabilities = capabilities;
    this.#child = loading.child;
    this.#sources = loading.sources;
    this.#listener = listener;
    this.#handlers = new Map(capabilities.map((capability, index) => [capabilityKey(capability), index]));
    this.#child.on("message", (message) => void this.#receive(message as FromChild));
    this.exited = loading.exited;
    void this.exited.then((exit) => this.#end(exit));
  }

  /** Starts a process on a file. Errors: validation, WORKER_FILE, where it can't be imported or defines nothing. */
  static async start(file: string, environment: NodeJS.ProcessEnv, listener: ProcessListener): Promise<WorkerProcess> {
    const loading = new Loading(file, environment, listener);
    try {
      return new WorkerProcess(file, loading, await loading.capabilities, listener);
    } catch (error) {
      killGroup(loading.child);
      await loading.exited;
      throw error;
    }
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** The files that it has read, this side of node_modules. */
  get sources(): readonly string[] {
    return [...this.#sources.keys()];
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Whether a file that it has read is another one now. */
  isOutdated(): boolean {
    for (const [path, stamp] of this.#sources) if (sourceStamp(path) !== stamp) return true;
    return false;
  }

  /** Performs a leased task. Resolves only when its code has stopped or the process has ended. */
  call(capability: Capability, context: TaskContext): Promise<Outcome> {
    const handler = this.#handlers.get(capabilityKey(capability));
    if (handler === undefined || this.hasEnded)
      return Promise.reject(
        new ForgeError(ErrorCode.WORKER_LOST, `the process of ${this.file} does not serve ${capability.name} any more`, { origin: "worker" }),
      );
    const call = this.#next++;
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const running: Running = { context, resolve, started: false, reported: false, stuck: false, grace: undefined };
    this.#calls.set(call, running);
    const lease = create(LeasedTaskSchema, { ...context.lease, leaseToken: new Uint8Array(), task: context.task });
    this.#send({ kind: "call", call, handler, lease: toBinary(LeasedTaskSchema, lease) });
    const abort = (): void => this.#abort(call, running);
    if (context.signal.aborted) abort();
    else context.signal.addEventListener("abort", abort, { once: true });
    return promise.finally(() => context.signal.removeEventListener("abort", abort));
  }

  /** Takes no more calls, and ends once those that run have. */
  retire(): void {
    this.#retired = true;
    this.#endIfDone();
  }

  /** Ends at once, and everything in its group with it. */
  async stop(): Promise<void> {
    killGroup(this.#child);
    await this.exited;
  }

  #abort(call: number, running: Running): void {
    const reason: unknown = running.context.signal.reason;
    const error = reason instanceof ForgeError ? reason : new ForgeError(ErrorCode.CANCELLED, String(reason));
    this.#send({ kind: "abort", call, error: toBinary(ForgeErrorSchema, error.detail) });
    running.grace = setTimeout(() => {
      running.stuck = true;
      this.#retired = true;
      this.#lastResort ??= setTimeout(() => killGroup(this.#child), OTHERS_MS);
      this.#listener.onSpent(this);
      this.#endIfDone();
    }, GRACE_MS);
  }

  #endIfDone(): void {
    if (!this.#retired || [...this.#calls.values()].some(({ stuck }) => !stuck)) return;
    killGroup(this.#child);
  }

  async #receive(message: FromChild): Promise<void> {
    // What it says while it loads, and what it logs, is somebody else's.
    switch (message.kind) {
      case "outcome":
        this.#settle(message.call, fromBinary(SettlementSchema, message.settlement).outcome);
        return;
      case "report": {
        const running = this.#calls.get(message.call);
        if (running === undefined) return;
        const { kind } = fromBinary(OutputDeltaSchema, message.delta);
        if (kind.case !== undefined) running.reported = true;
        running.context.report(kind);
        return;
      }
      case "request": {
        const running = this.#calls.get(message.call);
        if (running === undefined) return;
        if (message.method === "start") running.started = true;
        try {
          this.#send({ kind: "answer", request: message.request, value: await answerRequest(running.context, message.method, message.argument) });
        } catch (error) {
          const known = error instanceof ForgeError ? error : new ForgeError(ErrorCode.INTERNAL, String(error), { origin: "worker" });
          // A refused start means that nothing happens.
          if (message.method === "start") running.started = false;
          this.#send({ kind: "refusal", request: message.request, error: toBinary(ForgeErrorSchema, known.detail) });
        }
        return;
      }
      default:
    }
  }

  #settle(call: number, outcome: Outcome): void {
    const running = this.#calls.get(call);
    if (running === undefined) return;
    this.#calls.delete(call);
    clearTimeout(running.grace);
    running.resolve(outcome);
    this.#endIfDone();
  }

  #end(exit: ProcessExit): void {
    clearTimeout(this.#lastResort);
    for (const [call, running] of this.#calls) {
      this.#calls.delete(call);
      clearTimeout(running.grace);
      running.resolve(lostOutcome(running.context, { wasStarted: running.started, hadOutput: running.reported, isOwnFault: running.stuck, exit }));
    }
  }

  #send(message: ToChild): void {
    // What can't be sent goes to a process that has ended, which settles its calls.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}

/** A process until it has said what it can do. */
class Loading {
  readonly child: ChildProcess;
  readonly sources = new Map<string, string>();
  readonly capabilities: Promise<readonly Capability[]>;
  readonly exited: Promise<ProcessExit>;

  constructor(file: string, environment: NodeJS.ProcessEnv, listener: ProcessListener) {
    const entry = fileURLToPath(new URL("./worker-child.ts", import.meta.url));
    // As it is on in this process.
    const cacheDirectory = getCompileCacheDir();
    const cache = cacheDirectory === undefined ? [] : [path.dirname(cacheDirectory)];
    // A group of its own: Ctrl-C is for the worker to act on, and the end takes what the file has started along. A project need not say that it is made of modules.
    this.child = spawn(process.execPath, ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", entry, file, ...cache], {
      env: environment,
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      serialization: "advanced",
    });
    let lastWords = "";
    for (const stream of ["stdout", "stderr"] as const) {
      const input = this.child[stream];
      if (input === null) continue;
      createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
        if (stream === "stderr") lastWords = `${lastWords}${line}\n`.slice(-LAST_WORDS_MAX);
        listener.onOutput(stream, line);
      });
    }
    this.exited = endOf(this.child).then((end) => ({ ...end, lastWords }));
    const loaded = Promise.withResolvers<readonly Capability[]>();
    this.capabilities = loaded.promise;
    const timer = setTimeout(() => loaded.reject(notLoaded(file, `it was not imported after ${LOAD_MS_MAX / 1000} s`)), LOAD_MS_MAX);
    this.child.on("error", (error) => loaded.reject(notLoaded(file, error.message)));
    this.child.on("message", (raw) => {
      const message = raw as FromChild;
      if (message.kind === "loaded") loaded.resolve(message.capabilities.map((bytes) => fromBinary(CapabilitySchema, bytes)));
      if (message.kind === "failed") loaded.reject(ForgeError.from(fromBinary(ForgeErrorSchema, message.error)));
      if (message.kind === "sources") {
        for (const [source, stamp] of message.sources) {
          this.sources.set(source, stamp);
          listener.onSource(source);
        }
      }
      if (message.kind === "log") listener.onLog(message.level, message.message);
    });
    void this.exited.then(({ code, signal }) =>
      loaded.reject(notLoaded(file, `its process ended ${signal === null ? `with exit code ${code}` : `by ${signal}`}`)),
    );
    void this.capabilities.catch(() => undefined).finally(() => clearTimeout(timer));
  }
}

/** Resolves when a process has ended and said all that it had to say; what it has left behind in its group ends as well. */
function endOf(child: ChildProcess): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
  return new Promise((resolve) => {
    child.once("error", () => resolve({ code: null, signal: null }));
    child.once("exit", (code, signal) => {
      killGroup(child);
      // One that has left the group may hold the streams for as long as it lives.
      const timer = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, DRAIN_MS);
      child.once("close", () => {
        clearTimeout(timer);
        resolve({ code, signal });
      });
    });
  });
}

function notLoaded(file: string, why: string): ForgeError {
  return ForgeError.validation("file", `${file}: ${why}`, { reason: "WORKER_FILE", origin: "worker", metadata: { file } });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
