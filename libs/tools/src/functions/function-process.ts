import type { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { childEnvironment } from "../process/environment.ts";
import type { Isolation } from "../process/isolation.ts";
import { type ProcessExit, type ProcessTree, startProcessTree } from "../process/process-tree.ts";
import { within } from "../process/within.ts";
import { textEnd } from "../text.ts";
import { type CallRequest, CHANNEL_DESCRIPTOR, type ChildError, type LoadedSources, sourceStamp } from "./child-protocol.ts";
import { encodeFrame, frameReader, isTooLarge } from "./frames.ts";
import { type LogLines, logLines } from "./log-lines.ts";

/** Between a function's signal and the kill of its process; an endless loop never sees the signal, so this is also how long it lives on. */
const ABORT_GRACE_MS = 200;
/** What a process printed last, kept to explain its death; V8 says what it died of some kilobytes before its last words. */
const LAST_WORDS_LENGTH = 8_192;
/** How long the streams of a process that has ended may take to be read to their end. */
const DRAIN_MS = 1_000;

/** How function processes are started. */
export interface FunctionProcessOptions {
  /** A program that answers requests on descriptor 3, as child-protocol.ts says. */
  readonly command: readonly string[];
  /** The project's directory. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly isolation?: Isolation;
}

/** What goes on beside a call. */
export interface CallListener {
  /** A line that was printed. */
  line(stream: "stdout" | "stderr", line: string): void;
  /** The code goes on: it has printed something, or said so. */
  alive(): void;
  /** The run's state as a JSON object, for code that looks at more than its inputs; absent: it can't be had. */
  readonly state?: () => Promise<string>;
}

/** What became of a request to a function process. */
export type FunctionAnswer =
  | { readonly kind: "result"; readonly json: string }
  | { readonly kind: "error"; readonly error: ChildError }
  /** The process ended by itself, all of its descendants with it where `stopped`. */
  | { readonly kind: "exited"; readonly exit: ProcessExit; readonly lastWords: string; readonly stopped: boolean }
  /** The signal came first; the process was ended. */
  | { readonly kind: "interrupted"; readonly stopped: boolean };

/** A child process that runs functions, one call at a time, again and again. */
export class FunctionProcess {
  readonly #tree: ProcessTree;
  readonly #channel: Duplex;
  readonly #sources = new Map<string, string>();
  readonly #logs: LogLines[];
  readonly #ended: Promise<unknown>;
  #settle: ((answer: FunctionAnswer) => void) | undefined;
  #listener: CallListener | undefined;
  #lastWords = "";
  #spent = false;

  private constructor(tree: ProcessTree) {
    this.#tree = tree;
    this.#channel = tree.child.stdio[CHANNEL_DESCRIPTOR] as Duplex;
    this.#logs = (["stdout", "stderr"] as const).map((name) => this.#read(name));
    this.#ended = Promise.all([this.#channel, tree.child.stdout, tree.child.stderr].map((stream) => new Promise((resolve) => stream?.once("close", resolve))));
    const read = frameReader((kind, payload) => this.#receive(kind, payload));
    this.#channel.on("data", (chunk: Buffer) => {
      try {
        read(chunk);
      } catch {
        // Only a function that writes to the channel itself can break it; its process is of no use any more.
        void this.stop();
      }
    });
    // EPIPE when the process has ended, which is told by its exit.
    this.#channel.on("error", () => {});
    void tree.exited.then((exit) => this.#exited(exit));
  }

  static async start({ command, cwd, environment, isolation }: FunctionProcessOptions): Promise<FunctionProcess> {
    const tree = await startProcessTree(command, {
      cwd,
      environment: childEnvironment(environment),
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      isolation,
    });
    return new FunctionProcess(tree);
  }

  /** Whether it may serve another call: it is healthy, and no file that it has loaded was changed since. */
  isUsable(): boolean {
    if (this.#spent) return false;
    for (const [path, stamp] of this.#sources) {
      if (sourceStamp(path) !== stamp) return false;
    }
    return true;
  }

  /** Calls a function; `inputsJson` is the object that it is given. After an abort the process is ended, whatever the function makes of its signal. */
  async call(request: CallRequest, inputsJson: string, signal: AbortSignal, listener: CallListener): Promise<FunctionAnswer> {
    const payload = `${JSON.stringify(request).slice(0, -1)},"inputs":${inputsJson}}`;
    if (isTooLarge(payload)) {
      const message = `its inputs take ${Buffer.byteLength(inputsJson)} bytes together, and at most 16 MiB can be given: map less of them, or hand on where they are`;
      return { kind: "error", error: { kind: "arguments", message } };
    }
    return this.#exchange("C", payload, signal, listener);
  }

  /** The names of the functions that a file exports, as a JSON array. A module's code runs for that; a file of Python is only read. */
  discover(file: string, signal: AbortSignal): Promise<FunctionAnswer> {
    return this.#exchange("D", JSON.stringify({ file }), signal, undefined);
  }

  /** The tools that a file of Python has. The file's code runs for that. */
  describeTools(file: string, signal: AbortSignal): Promise<FunctionAnswer> {
    return this.#exchange("T", JSON.stringify({ file }), signal, undefined);
  }

  /** Ends the process and its descendants at once; resolves to whether they are known to have ended. */
  async stop(): Promise<boolean> {
    this.#spent = true;
    const stopped = await this.#tree.stop({ graceMs: 0 });
    if (!(await within(this.#ended, DRAIN_MS))) for (const stream of this.#tree.child.stdio) stream?.destroy();
    return stopped;
  }

  async #exchange(kind: string, payload: string, signal: AbortSignal, listener: CallListener | undefined): Promise<FunctionAnswer> {
    this.#lastWords = "";
    for (const log of this.#logs) log.begin();
    this.#listener = listener;
    const answered = new Promise<FunctionAnswer>((resolve) => {
      this.#settle = resolve;
    });
    const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<undefined>();
    // A listener that is taken off, and no signal for its end: an abort's reason has a stack, which would be a tenth of a short call.
    const onAbort = (): void => interrupt(undefined);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    this.#channel.write(encodeFrame(kind, payload));
    const answer = (await Promise.race([answered, interrupted])) ?? (await this.#interrupt(answered, signal));
    signal.removeEventListener("abort", onAbort);
    this.#settle = undefined;
    // What was printed before the answer came by another pipe, and is read in this turn of the loop at the latest.
    await nextTurn();
    for (const log of this.#logs) log.flush();
    // A file that failed to load stays failed in this process, though what it lacked may be there by then.
    if (answer.kind === "error" && (answer.error.kind === "uncaught" || answer.error.kind === "load")) this.#spent = true;
    return answer;
  }

  async #interrupt(answered: Promise<FunctionAnswer>, signal: AbortSignal): Promise<FunctionAnswer> {
    this.#spent = true;
    const reason: unknown = signal.reason;
    this.#channel.write(encodeFrame("A", reason instanceof Error ? reason.message : String(reason)));
    const inTime = await within(answered, ABORT_GRACE_MS);
    const stopped = await this.stop();
    const answer = inTime && stopped ? await answered : undefined;
    // What it still achieved is the truth about it; anything else is the interruption's doing.
    return answer?.kind === "result" ? answer : { kind: "interrupted", stopped };
  }

  async #exited(exit: ProcessExit): Promise<void> {
    this.#spent = true;
    const stopped = await this.#tree.stop({ graceMs: 0 });
    // An answer that was sent right before the end may still be on its way.
    await within(this.#ended, DRAIN_MS);
    this.#settle?.({ kind: "exited", exit, lastWords: this.#lastWords, stopped });
  }

  #receive(kind: string, payload: string): void {
    if (kind === "S") for (const [path, stamp] of JSON.parse(payload) as LoadedSources) this.#sources.set(path, stamp);
    if (kind === "R") this.#settle?.({ kind: "result", json: payload });
    if (kind === "E") this.#settle?.({ kind: "error", error: JSON.parse(payload) as ChildError });
    if (kind === "H") this.#listener?.alive();
    if (kind === "Q") void this.#answerState();
  }

  /** Null where there is no state, or it can't be read: the code that asked for it gets an error to say so. */
  async #answerState(): Promise<void> {
    const state = await this.#listener?.state?.().catch(() => undefined);
    this.#channel.write(encodeFrame("V", state === undefined || isTooLarge(state) ? "null" : state));
  }

  #read(name: "stdout" | "stderr"): LogLines {
    const lines = logLines((line) => this.#listener?.line(name, line));
    this.#tree.child[name]?.on("data", (chunk: Buffer) => {
      // Whatever it prints, more lines than are kept or less than one.
      this.#listener?.alive();
      if (name === "stderr") this.#lastWords = textEnd(this.#lastWords + chunk.toString("utf8"), LAST_WORDS_LENGTH);
      lines.push(chunk);
    });
    return lines;
  }
}
