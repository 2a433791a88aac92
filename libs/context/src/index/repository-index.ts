import { Worker } from "node:worker_threads";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { MapRequest, RenderedMap } from "../map/render-map.ts";
import type { IndexStatus } from "./index-status.ts";
import type { FromThread, StartThread, ToThread } from "./thread-messages.ts";
import { SILENT_MS_MAX, watchBeat } from "./watch-beat.ts";

/** Of the thread: the symbols of 200,000 files, several times. */
const MEMORY_MIB_MAX = 1_536;

export interface RepositoryIndexOptions {
  /** The workspace. */
  readonly root: string;
  /** Of Forge, not in the workspace's own files; the index is below `context/` there. */
  readonly dataDirectory: string;
}

interface Waiting {
  readonly resolve: (message: FromThread) => void;
  readonly reject: (error: ForgeError) => void;
}

/**
 * The index of a workspace, in a thread of its own. Opening returns at once; the index is read, validated and built in the background. Nothing keeps the
 * process alive for it, and ending it at any moment loses only what was not written yet.
 */
export class RepositoryIndex implements AsyncDisposable {
  readonly #thread: Worker;
  readonly #beat = new Int32Array(new SharedArrayBuffer(8));
  readonly #watch: NodeJS.Timeout;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #failure: ForgeError | undefined;
  #status: IndexStatus = { state: "scanning", files: 0, sources: 0, parsed: 0, scanMs: 0, notes: [] };
  #current: Promise<IndexStatus>;
  #isQueued = false;

  constructor({ root, dataDirectory }: RepositoryIndexOptions) {
    const start: StartThread = { root, dataDirectory, beat: this.#beat };
    this.#thread = new Worker(new URL("./index-thread.ts", import.meta.url), {
      workerData: start,
      // Nothing of the owner's: neither its environment nor its options.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB_MAX },
    });
    this.#thread.on("message", (message: FromThread) => this.#receive(message));
    this.#thread.on("error", (error) => this.#fail(error instanceof Error ? error.message : String(error)));
    this.#thread.on("exit", (code) => this.#fail(`its thread ended with code ${code}`));
    this.#thread.unref();
    this.#watch = watchBeat(this.#beat, () => {
      this.#fail(`it was silent for ${SILENT_MS_MAX / 1_000} s, perhaps over a file that can't be parsed`);
      void this.#thread.terminate();
    });
    this.#current = this.#update();
    this.#current.catch(() => undefined);
  }

  /** How far it is by now. */
  get status(): IndexStatus {
    return this.#status;
  }

  /** Looks for changes since, and resolves when they are known. A look that has not begun yet serves all who ask meanwhile. Errors: internal, INDEX_UNAVAILABLE. */
  update(): Promise<IndexStatus> {
    if (this.#isQueued || this.#failure !== undefined) return this.#current;
    this.#isQueued = true;
    const before = this.#current.catch(() => undefined);
    this.#current = before.then(() => {
      this.#isQueued = false;
      return this.#update();
    });
    this.#current.catch(() => undefined);
    return this.#current;
  }

  /** A map of what is known by now, which is less than all until `update` has resolved. Errors: internal, INDEX_UNAVAILABLE. */
  async map(request: MapRequest): Promise<RenderedMap> {
    const answer = await this.#ask({ kind: "map", id: this.#nextId++, request });
    if (answer.kind !== "map") throw unavailable("it answered something else");
    return answer.map;
  }

  /** Ends the thread, whatever it is doing. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail("it was closed");
    await this.#thread.terminate();
  }

  async #update(): Promise<IndexStatus> {
    const answer = await this.#ask({ kind: "update", id: this.#nextId++ });
    if (answer.kind !== "updated") throw unavailable("it answered something else");
    return answer.status;
  }

  #ask(message: ToThread): Promise<FromThread> {
    const asked = new Promise<FromThread>((resolve, reject) => {
      if (this.#failure !== undefined) reject(this.#failure);
      else this.#waiting.set(message.id, { resolve, reject });
    });
    // Whoever asked may have gone on without it.
    asked.catch(() => undefined);
    if (this.#failure === undefined) this.#thread.postMessage(message);
    return asked;
  }

  #receive(message: FromThread): void {
    if (message.kind !== "failed") this.#status = message.status;
    if (message.kind === "status") return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === "failed") {
      this.#status = { ...this.#status, state: "failed", notes: [message.message] };
      waiting?.reject(unavailable(message.message));
    } else waiting?.resolve(message);
  }

  #fail(message: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = unavailable(message);
    this.#status = { ...this.#status, state: "failed", notes: [message] };
    clearInterval(this.#watch);
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}

function unavailable(why: string): ForgeError {
  return new ForgeError(ErrorCode.INTERNAL, `the index of the workspace is not available: ${why}`, { origin: "client", reason: "INDEX_UNAVAILABLE" });
}
