import { Worker } from "node:worker_threads";
import type { ThreadAnswer, ThreadQuestion, ThreadStart } from "./observation-protocol.ts";
import type { Observation } from "./observed-file.ts";

/** Of the thread; half a million files take a few hundred. */
const MEMORY_MIB_MAX = 1024;

type Reply = { readonly id: number; readonly answer: ThreadAnswer } | { readonly id: number; readonly error: string };

/** The thread that looks at a workspace, from outside. It does not keep the process alive. */
export class ObservationClient {
  readonly #start: ThreadStart;
  readonly #waiting = new Map<number, { resolve(answer: ThreadAnswer): void; reject(error: Error): void }>();
  #thread: Worker | undefined;
  #lastId = 0;

  constructor(start: ThreadStart) {
    this.#start = start;
  }

  /** Whether it has been asked anything, and is there. */
  get isStarted(): boolean {
    return this.#thread !== undefined;
  }

  async scan(mayForget: boolean): Promise<Observation> {
    return (await this.#ask({ kind: "scan", mayForget })).observation;
  }

  async refresh(paths: readonly string[]): Promise<void> {
    await this.#ask({ kind: "refresh", paths });
  }

  /** A content that was seen; undefined where it is not kept. */
  async content(sha256: string): Promise<Uint8Array | undefined> {
    return (await this.#ask({ kind: "content", sha256 })).content;
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #ask<Kind extends ThreadQuestion["kind"]>(question: ThreadQuestion & { kind: Kind }): Promise<Extract<ThreadAnswer, { kind: Kind }>> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve: resolve as (answer: ThreadAnswer) => void, reject });
      this.#thread ??= this.#open();
      // Somebody waits for the answer.
      this.#thread.ref();
      this.#thread.postMessage({ id, question });
    });
  }

  #open(): Worker {
    const thread = new Worker(new URL("./observation-thread.ts", import.meta.url), {
      workerData: this.#start,
      // Nothing of the owner's: neither its environment nor its options.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB_MAX },
    });
    thread.on("message", (reply: Reply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if (this.#waiting.size === 0) thread.unref();
      if ("error" in reply) waiting?.reject(new Error(reply.error));
      else waiting?.resolve(reply.answer);
    });
    let failure = new Error("the thread that looks at the workspace ended");
    thread.on("error", (error) => {
      failure = error instanceof Error ? error : new Error(String(error));
    });
    thread.on("exit", () => {
      // The next question starts another one, which reads everything anew.
      this.#thread = undefined;
      for (const waiting of this.#waiting.values()) waiting.reject(failure);
      this.#waiting.clear();
    });
    return thread;
  }
}
