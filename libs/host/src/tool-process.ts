import { type ChildProcess, fork } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Logger } from "pino";
import type { TurnEnd } from "./extensions/watch-ends.ts";
import type { ToHost, ToTools } from "./tool-process-messages.ts";
import type { ToolWorkerSettings } from "./tool-worker.ts";

export interface ToolProcessOptions {
  /** The process is started at once, and told these when they are known. */
  readonly settings: ToolWorkerSettings | Promise<ToolWorkerSettings>;
  /** What it is started with is taken from here, by name; see toolEnvironment. */
  readonly processEnvironment: Readonly<NodeJS.ProcessEnv>;
  readonly logger: Logger;
}

/** The process that tools run in, beside the one that speaks to models. When it ends by itself, it is started again. */
export interface ToolProcess {
  /** Resolves when it has joined for the first time; rejects where it can't. */
  readonly ready: Promise<void>;
  /** Of the process that is there now. */
  pid(): number | undefined;
  /** Ends what runs in the background of a turn, and calls the hooks for its end. Where nobody says so, it ends with the session's next call, and after an hour. */
  turnEnded(end: TurnEnd): void;
  /** Ends what runs in the background of a session. */
  sessionEnded(sessionId: string): void;
  /** Lets what runs finish, at most so long; no new task is taken. */
  drain(waitMs: number): Promise<void>;
  /** Resolves when it has ended, and all that it started. */
  stop(): Promise<void>;
}

/** Between its end and the next start, twice as long each time. */
const RESTART_MS_MIN = 100;
const RESTART_MS_MAX = 10_000;
/** One that lived longer begins with the shortest pause again. */
const STEADY_MS = 60_000;
/** After it was told to stop; it then stops the commands that run, for which they have 2 s. */
const STOP_MS = 10_000;

const INHERITED = /^(?:PATH|HOME|LANG|LC_.*|TERM|TZ|TMPDIR|USER|LOGNAME|SHELL|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|FORGE_SECRET_.+|FORGE_PYTHON|CI)$/;

/** What of an environment the process of the tools is given: what programs need to be found and to run, and the secrets that are meant for tools. No key of a provider. */
export function toolEnvironment(environment: Readonly<NodeJS.ProcessEnv>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => (value !== undefined && INHERITED.test(name) ? [[name, value]] : [])));
}

/** Starts the process of the tools and returns at once; see `ready`. */
export function startToolProcess({ processEnvironment, logger, settings }: ToolProcessOptions): ToolProcess {
  return new RestartedProcess(settings, toolEnvironment(processEnvironment), logger);
}

class RestartedProcess implements ToolProcess {
  readonly ready: Promise<void>;
  readonly #settings: Promise<ToolWorkerSettings>;
  readonly #environment: Record<string, string>;
  readonly #logger: Logger;
  readonly #joined = Promise.withResolvers<void>();
  readonly #over = new AbortController();
  readonly #ended: Promise<void>;
  #drained = Promise.withResolvers<void>();
  #child: ChildProcess | undefined;
  #isDraining = false;
  #hasJoined = false;

  constructor(settings: ToolWorkerSettings | Promise<ToolWorkerSettings>, environment: Record<string, string>, logger: Logger) {
    this.#settings = Promise.resolve(settings);
    this.#environment = environment;
    this.#logger = logger;
    this.ready = this.#joined.promise;
    // Nobody need wait for it.
    this.ready.catch(() => {});
    this.#ended = this.#keepAlive();
  }

  pid(): number | undefined {
    return this.#child?.pid;
  }

  turnEnded(end: TurnEnd): void {
    this.#tell({ kind: "turn-ended", end });
  }

  sessionEnded(sessionId: string): void {
    this.#tell({ kind: "session-ended", sessionId });
  }

  async drain(waitMs: number): Promise<void> {
    this.#isDraining = true;
    if (this.#child === undefined) return;
    this.#drained = Promise.withResolvers();
    this.#tell({ kind: "drain", waitMs });
    await this.#drained.promise;
  }

  async stop(): Promise<void> {
    this.#over.abort();
    const child = this.#child;
    const timer = setTimeout(() => child?.kill("SIGKILL"), STOP_MS);
    this.#tell({ kind: "stop" });
    await this.#ended;
    clearTimeout(timer);
  }

  async #keepAlive(): Promise<void> {
    let pauseMs = RESTART_MS_MIN;
    while (!this.#over.signal.aborted && !this.#isDraining) {
      const startedAt = performance.now();
      const { code, signal, isRefused } = await this.#run();
      this.#drained.resolve();
      if (this.#over.signal.aborted || isRefused) break;
      this.#logger.error({ code, signal }, "the process of the tools has ended, and is started again");
      if (performance.now() - startedAt > STEADY_MS) pauseMs = RESTART_MS_MIN;
      await delay(pauseMs, undefined, { signal: this.#over.signal }).catch(() => {});
      pauseMs = Math.min(RESTART_MS_MAX, pauseMs * 2);
    }
    this.#joined.reject(new ForgeError(ErrorCode.CANCELLED, "the process of the tools was stopped before it had joined"));
  }

  /** One process, from its start to its end. */
  #run(): Promise<{ code: number | null; signal: NodeJS.Signals | null; isRefused: boolean }> {
    // Detached: a Ctrl-C at the terminal reaches the host alone. It ends all the same when the channel to the host breaks.
    const child = fork(fileURLToPath(new URL("./tool-process-main.ts", import.meta.url)), [getCompileCacheDir() ?? ""], {
      env: this.#environment,
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      detached: true,
    });
    this.#child = child;
    let isRefused = false;
    child.on("message", (message: ToHost) => {
      if (message.kind === "joined") {
        this.#hasJoined = true;
        this.#joined.resolve();
      } else if (message.kind === "drained") this.#drained.resolve();
      else if (message.kind === "problem") this.#logger.error({ problem: message.message }, "a problem in the process of the tools");
      else {
        // What could be served once can be again, when what is in its way has gone.
        isRefused = !this.#hasJoined;
        this.#joined.reject(new ForgeError(ErrorCode.INTERNAL, `the tools can't be served: ${message.message}`, { reason: "TOOLS_UNAVAILABLE" }));
        this.#logger.error({ problem: message.message }, "the tools can't be served");
      }
    });
    // Where they never come, whoever was to give them has failed, and ends this.
    this.#settings.then(
      (settings) => this.#tell({ kind: "settings", settings }),
      () => undefined,
    );
    return new Promise((resolve) => {
      const ended = (code: number | null, signal: NodeJS.Signals | null): void => {
        if (this.#child === child) this.#child = undefined;
        resolve({ code, signal, isRefused });
      };
      child.once("exit", ended);
      child.once("error", (error) => {
        this.#logger.error({ err: error }, "the process of the tools can't be started");
        if (child.pid === undefined) ended(null, null);
      });
    });
  }

  #tell(message: ToTools): void {
    // A process that has ended is noticed by its exit.
    if (this.#child?.connected) this.#child.send(message, () => {});
  }
}
