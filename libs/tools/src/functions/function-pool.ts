import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { FunctionProcess } from "./function-process.ts";

/** Calls that wait for a process; a worker leases no more tasks than it has slots, so this is never reached by a worker. */
const WAITING_MAX = 10_000;

/** A bounded number of function processes, started when they are first needed and kept for the next call. */
export class FunctionPool {
  readonly #start: () => Promise<FunctionProcess>;
  readonly #idle: FunctionProcess[] = [];
  readonly #all = new Set<FunctionProcess>();
  readonly #waiting: (() => void)[] = [];
  #free: number;
  #closed = false;

  constructor(size: number, start: () => Promise<FunctionProcess>) {
    this.#free = size;
    this.#start = start;
  }

  /**
   * Lends a process to an action, which waits for one where all are lent; what is not usable afterwards is replaced. Rejects with the signal's reason when it
   * aborts while waiting.
   */
  async use<T>(signal: AbortSignal, action: (process: FunctionProcess) => Promise<T>): Promise<T> {
    await this.#acquireSlot(signal);
    try {
      const process = await this.#take();
      try {
        return await action(process);
      } finally {
        this.#idle.push(process);
      }
    } finally {
      this.#releaseSlot();
    }
  }

  /** Ends all processes; calls that run end with them. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((process) => process.stop()));
  }

  async #take(): Promise<FunctionProcess> {
    if (this.#closed) throw new ForgeError(ErrorCode.CANCELLED, "the worker's functions have been shut down", { origin: "worker" });
    // The one used last: its code and its caches are the warmest.
    const idle = this.#idle.pop();
    if (idle?.isUsable()) return idle;
    if (idle !== undefined) await this.#discard(idle);
    const started = await this.#start();
    this.#all.add(started);
    if (this.#closed) await this.#discard(started);
    return started;
  }

  async #discard(process: FunctionProcess): Promise<void> {
    await process.stop();
    this.#all.delete(process);
  }

  async #acquireSlot(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    if (this.#waiting.length >= WAITING_MAX) throw new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `${WAITING_MAX} function calls are waiting already`);
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1);
        reject(signal.reason as Error);
      };
      const turn = (): void => {
        signal.removeEventListener("abort", abort);
        resolve();
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.push(turn);
    });
  }

  #releaseSlot(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
