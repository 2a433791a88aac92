import { pause } from "@forge/core";
import { ForgeError } from "@forge/protocol";
import type { StoredTask } from "../ports/index.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { proofOfRow, taskCommand } from "./internal-command.ts";
import { isPassing } from "./passing.ts";
import type { Repair } from "./repair.ts";

/** Timers that other replicas set are found at this distance at the latest. */
const POLL_MS_MAX = 5_000;
/** The store is asked no more often, whatever this machine's clock says beside the database's. */
const POLL_MS_MIN = 20;
export const TIMERS_MAX = 100;

/** Leases due timers, at most TIMERS_MAX; isFull: there may be more; nextDueInMs is how long until another becomes due. */
export type LeaseTimers = () => Promise<{ readonly tasks: readonly StoredTask[]; readonly isFull: boolean; readonly nextDueInMs: number | undefined }>;

/** Fires the timers of all streams, as commands to them, when the database's clock says so. */
export class Timers {
  readonly #lease: LeaseTimers;
  readonly #engine: StreamEngine;
  readonly #repair: Repair;
  readonly #onBug: (error: unknown, where: string) => void;
  #wake = new AbortController();
  /** The earliest timer that was set here since the store was asked last, milliseconds since the epoch. */
  #expectedAtMs = Number.POSITIVE_INFINITY;
  /** Until when the loop sleeps; infinite while it asks and fires. */
  #sleepsUntilMs = Number.POSITIVE_INFINITY;

  constructor(lease: LeaseTimers, engine: StreamEngine, repair: Repair, onBug: (error: unknown, where: string) => void) {
    this.#lease = lease;
    this.#engine = engine;
    this.#repair = repair;
    this.#onBug = onBug;
  }

  /** A timer was set on this replica. */
  expect(dueAtMs: number): void {
    this.#expectedAtMs = Math.min(this.#expectedAtMs, dueAtMs);
    if (this.#expectedAtMs < this.#sleepsUntilMs) this.#wake.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#expectedAtMs = Number.POSITIVE_INFINITY;
      const waitMs = await this.#round().catch((error: unknown) => {
        this.#onBug(error, "timers");
        return 500;
      });
      this.#wake = new AbortController();
      this.#sleepsUntilMs = Math.min(Date.now() + waitMs, this.#expectedAtMs);
      await pause(Math.max(POLL_MS_MIN, this.#sleepsUntilMs - Date.now()), AbortSignal.any([signal, this.#wake.signal]));
      this.#sleepsUntilMs = Number.POSITIVE_INFINITY;
    }
  }

  /** Fires what is due; returns how long to wait for the next. */
  async #round(): Promise<number> {
    const { tasks, isFull, nextDueInMs } = await this.#lease();
    // One stream that is hard to reach does not hold up the others' timers.
    for (const task of tasks) void this.#fire(task);
    return isFull ? 0 : Math.min(nextDueInMs ?? POLL_MS_MAX, POLL_MS_MAX);
  }

  async #fire(task: StoredTask): Promise<void> {
    const command = taskCommand({
      namespace: task.namespace,
      principal: "control-plane",
      kind: task.streamKind,
      streamId: task.streamId,
      command: { $typeName: "timer.fired", key: task.key },
      commandId: `timer/${task.key}/${task.epoch}`,
      proofs: [proofOfRow(task)],
    });
    try {
      await this.#engine.execute(command);
    } catch (error) {
      // What could not be decided now is tried again when the lease runs out; a stream that has no use for the timer any more is put right.
      if (isPassing(error) || !(error instanceof ForgeError)) this.#onBug(error, "timers");
      else if (error.reason !== "LEASE_LOST")
        await this.#repair.stream(task.namespace, task.streamId, task.streamKind).catch((failure: unknown) => this.#onBug(failure, "timers"));
    }
  }
}
