import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { PROCESS_EXITED } from "./lost-outcome.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** A call without a process waits no longer for one. */
const WAIT_MS_MAX = 30_000;

/** The process that gets new calls; there may be none for a while. */
export class CurrentProcess {
  #process: WorkerProcess | undefined;
  #next = Promise.withResolvers<WorkerProcess>();

  get(): WorkerProcess | undefined {
    return this.#process;
  }

  set(process: WorkerProcess): void {
    this.#process = process;
    this.#next.resolve(process);
    this.#next = Promise.withResolvers<WorkerProcess>();
  }

  clear(): void {
    this.#process = undefined;
  }

  /** The process, as soon as there is one. Rejects with the signal's reason when it aborts, and with worker_lost after half a minute. */
  async wait(signal: AbortSignal): Promise<WorkerProcess> {
    if (this.#process?.hasEnded === false) return this.#process;
    signal.throwIfAborted();
    const given = Promise.withResolvers<never>();
    const abort = (): void => given.reject(signal.reason);
    const giveUp = (): void =>
      given.reject(
        new ForgeError(ErrorCode.WORKER_LOST, `no process could be started for ${WAIT_MS_MAX / 1000} s`, { reason: PROCESS_EXITED, origin: "worker" }),
      );
    const timer = setTimeout(giveUp, WAIT_MS_MAX);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await Promise.race([this.#next.promise, given.promise]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    }
  }
}
