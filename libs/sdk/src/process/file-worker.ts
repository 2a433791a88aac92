import path from "node:path";
import { toBinary } from "@bufbuild/protobuf";
import { backoffMs, pause } from "@forge/core";
import { type Capability, CapabilitySchema } from "@forge/protocol/worker";
import { type ControlPlanePort, type Outcome, startWorker, type TaskContext, type TaskHandler, type Worker } from "@forge/worker";
import { CurrentProcess } from "./current-process.ts";
import type { FileWorkerEvent } from "./file-worker-events.ts";
import { performInProcess } from "./perform-in-process.ts";
import { SourceWatch } from "./source-watch.ts";
import { WorkerProcess } from "./worker-process.ts";

export interface FileWorkerOptions {
  readonly port: ControlPlanePort;
  /** Stable over restarts: a worker that joins under the name of another one gives up what that one held. */
  readonly name: string;
  readonly queues: readonly string[];
  /** Calls at once. */
  readonly slots: number;
  readonly file: string;
  /** Of the process that imports the file. */
  readonly environment: NodeJS.ProcessEnv;
  /** Whether a change of the file, or of what it imports, is served as soon as it is made. */
  readonly reload: boolean;
  readonly onEvent: (event: FileWorkerEvent) => void;
  /** Called once when another worker has joined under this name; this one serves nothing more. */
  readonly onReplaced: () => void;
}

/** A worker that serves what a file defines, from a process of its own. */
export interface FileWorker {
  /** Takes no new calls and resolves when those that run have ended, or after the time. */
  drain(waitMs: number): Promise<void>;
  /** Cancels what runs, waits for it to stop, and ends the process. */
  stop(): Promise<void>;
}

/** A file that crashes at once is started at this pace; one that has lived for longer than HEALTHY_MS begins anew. */
const RESTART_MS_FIRST = 200;
const RESTART_MS_MAX = 10_000;
const HEALTHY_MS = 10_000;
/** The longest that a timer can wait: a change waits for what runs. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/** Starts a worker for a file. Resolves once it has joined. Errors: validation, WORKER_FILE; those of the control plane's Register. */
export async function startFileWorker(options: FileWorkerOptions): Promise<FileWorker> {
  const worker = new SupervisedFile({ ...options, file: path.resolve(options.file) });
  try {
    await worker.start();
  } catch (error) {
    await worker.stop();
    throw error;
  }
  return worker;
}

class SupervisedFile implements FileWorker {
  readonly #options: FileWorkerOptions;
  readonly #watch: SourceWatch;
  readonly #over = new AbortController();
  readonly #current = new CurrentProcess();
  /** All that have not ended: the current one, those that finish what they have, and one that is tried. */
  readonly #processes = new Set<WorkerProcess>();
  #worker: Worker | undefined;
  /** What the worker has joined with. */
  #serving: readonly Capability[] = [];
  #running = 0;
  /** Starts that ended soon, in a row. */
  #crashes = 0;
  #isBroken = false;
  /** Changes of process and registration are made one after the other. */
  #changing: Promise<void> = Promise.resolve();
  /** Ends the wait before the next start: the file may have been mended. */
  #edited = new AbortController();

  constructor(options: FileWorkerOptions) {
    this.#options = options;
    this.#watch = new SourceWatch(() => this.#onEdit(), this.#onProblem);
  }

  async start(): Promise<void> {
    const process = await this.#startProcess();
    await this.#join(process.capabilities);
    this.#use(process, false);
  }

  async drain(waitMs: number): Promise<void> {
    this.#over.abort();
    await this.#worker?.drain(waitMs);
  }

  async stop(): Promise<void> {
    this.#over.abort();
    this.#watch.close();
    await this.#worker?.stop();
    // A change that was being made may have joined anew.
    await this.#changing;
    await this.#worker?.stop();
    await Promise.all([...this.#processes].map((process) => process.stop()));
  }

  readonly #onProblem = (error: unknown): void => this.#options.onEvent({ kind: "problem", error });

  #change(make: () => Promise<void>): void {
    this.#changing = this.#changing.then(async () => {
      if (!this.#over.signal.aborted) await make().catch(this.#onProblem);
    });
  }

  #onEdit(): void {
    this.#edited.abort();
    this.#edited = new AbortController();
    this.#change(async () => {
      const before = this.#current.get();
      // Between two processes the next one reads the file as it is now anyway.
      if (before !== undefined && (this.#isBroken || before.isOutdated())) await this.#replace(before);
    });
  }

  async #startProcess(): Promise<WorkerProcess> {
    const { file, environment, reload, onEvent } = this.#options;
    const read: string[] = [];
    let process: WorkerProcess;
    try {
      process = await WorkerProcess.start(file, environment, {
        onSource: (source) => read.push(source),
        onOutput: (stream, line) => onEvent({ kind: "output", stream, line }),
        onLog: (level, message) => onEvent({ kind: "log", level, message }),
        onSpent: (spent) => this.#onSpent(spent),
      });
      this.#isBroken = false;
    } catch (error) {
      this.#isBroken = true;
      // A change of any of what it had read may mend it.
      if (reload) this.#watch.follow([file, ...read]);
      throw error;
    }
    this.#processes.add(process);
    const startedAt = performance.now();
    void process.exited.then(({ code, signal }) => {
      this.#processes.delete(process);
      if (performance.now() - startedAt > HEALTHY_MS) this.#crashes = 0;
      this.#onExit(process, signal === null ? `with exit code ${code}` : `by ${signal}`);
    });
    return process;
  }

  /** Starts another process, joins anew where it serves something else, and lets the one before finish what it has. */
  async #replace(before: WorkerProcess | undefined): Promise<void> {
    const process = await this.#startProcess();
    // Calls that wait for a process need not wait for the registration as well, which waits for them.
    if (before === undefined) this.#current.set(process);
    if (!isSame(process.capabilities, this.#serving)) {
      try {
        await this.#rejoin(process.capabilities);
      } catch (error) {
        this.#isBroken = true;
        await process.stop();
        throw error;
      }
    }
    this.#use(process, true);
    before?.retire();
  }

  /** A worker says what it serves when it joins, and who joins again gives up what it holds: so what runs ends first. */
  async #rejoin(capabilities: readonly Capability[]): Promise<void> {
    if (this.#running > 0) this.#options.onEvent({ kind: "waiting", calls: this.#running });
    await this.#worker?.drain(NO_LIMIT_MS);
    await this.#worker?.stop();
    this.#over.signal.throwIfAborted();
    try {
      await this.#join(capabilities);
    } catch (error) {
      if (this.#current.get() !== undefined) await this.#join(this.#serving);
      throw error;
    }
  }

  async #join(capabilities: readonly Capability[]): Promise<void> {
    const { port, name, queues, slots, onReplaced } = this.#options;
    const handlers = capabilities.map((capability): TaskHandler => ({ capability, run: (context) => this.#perform(capability, context) }));
    this.#worker = await startWorker({ port, name, queues, slots, handlers, onProblem: this.#onProblem, onReplaced });
    this.#serving = capabilities;
  }

  async #perform(capability: Capability, context: TaskContext): Promise<Outcome> {
    const startedAt = performance.now();
    this.#running++;
    try {
      const outcome = await performInProcess(this.#current, capability, context);
      this.#options.onEvent({ kind: "called", capability, task: context.task, outcome, durationMs: performance.now() - startedAt });
      return outcome;
    } finally {
      this.#running--;
    }
  }

  /** New calls go to this process from now on. */
  #use(process: WorkerProcess, isReload: boolean): void {
    const { file, reload, onEvent } = this.#options;
    this.#current.set(process);
    if (reload) this.#watch.follow([file, ...process.sources]);
    onEvent({ kind: "serving", capabilities: process.capabilities, pid: process.pid, isReload });
  }

  #onSpent(process: WorkerProcess): void {
    if (this.#current.get() !== process || this.#over.signal.aborted) return;
    this.#options.onEvent({ kind: "stuck", pid: process.pid });
    this.#current.clear();
    this.#change(() => this.#startUntilOneLives());
  }

  #onExit(process: WorkerProcess, how: string): void {
    if (this.#current.get() !== process) return;
    this.#current.clear();
    if (this.#over.signal.aborted) return;
    const restartMs = this.#restartMs();
    this.#options.onEvent({ kind: "exited", pid: process.pid, how, restartMs });
    this.#change(async () => {
      await this.#pause(restartMs);
      await this.#startUntilOneLives();
    });
  }

  async #startUntilOneLives(): Promise<void> {
    while (!this.#over.signal.aborted && this.#current.get() === undefined) {
      try {
        await this.#replace(undefined);
      } catch (error) {
        if (this.#over.signal.aborted) return;
        this.#onProblem(error);
        await this.#pause(this.#restartMs());
      }
    }
  }

  #restartMs(): number {
    return backoffMs(this.#crashes++, RESTART_MS_FIRST, RESTART_MS_MAX);
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, AbortSignal.any([this.#over.signal, this.#edited.signal]));
  }
}

function isSame(some: readonly Capability[], others: readonly Capability[]): boolean {
  const encoded = (capabilities: readonly Capability[]): string[] =>
    capabilities.map((capability) => Buffer.from(toBinary(CapabilitySchema, capability)).toString("base64")).toSorted();
  return JSON.stringify(encoded(some)) === JSON.stringify(encoded(others));
}
