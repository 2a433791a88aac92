import { pause } from "@forge/core";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Store, StoredTask } from "../ports/index.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { proofOfRow, taskCommand } from "./internal-command.ts";
import type { Repair } from "./repair.ts";

/** Timers that other replicas set are found at this distance at the latest. */
const POLL_MS_MAX = 5_000;
const BATCH_MAX = 100;
const LEASE_MS = 30_000;

/** Fires the timers of all streams, as commands to them, when the database's clock says so. */
export class Timers {
  readonly #store: Store;
  readonly #engine: StreamEngine;
  readonly #repair: Repair;
  readonly #replica: string;
  readonly #onBug: (error: unknown, where: string) => void;
  #wake = new AbortController();
  #nextDueAtMs = 0;

  constructor(store: Store, engine: StreamEngine, repair: Repair, replica: string, onBug: (error: unknown, where: string) => void) {
    this.#store = store;
    this.#engine = engine;
    this.#repair = repair;
    this.#replica = replica;
    this.#onBug = onBug;
  }

  /** A timer was set on this replica. */
  expect(dueAtMs: number): void {
    if (dueAtMs >= this.#nextDueAtMs) return;
    this.#nextDueAtMs = dueAtMs;
    this.#wake.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const { tasks, nextDueAtMs } = await this.#store.leaseInternal({ kind: "timer", owner: this.#replica, ttlMs: LEASE_MS, limit: BATCH_MAX });
        await Promise.all(tasks.map((task) => this.#fire(task)));
        if (tasks.length === BATCH_MAX) continue;
        this.#nextDueAtMs = Math.min(nextDueAtMs ?? Number.POSITIVE_INFINITY, Date.now() + POLL_MS_MAX);
      } catch (error) {
        this.#onBug(error, "timers");
        this.#nextDueAtMs = Date.now() + 500;
      }
      this.#wake = new AbortController();
      await pause(Math.max(1, this.#nextDueAtMs - Date.now()), AbortSignal.any([signal, this.#wake.signal]));
    }
  }

  async #fire(task: StoredTask): Promise<void> {
    const command = taskCommand({
      namespace: task.namespace,
      principal: "control-plane",
      kind: task.streamKind,
      streamId: task.streamId,
      command: { $typeName: "timer.fired", key: task.key },
      commandId: `timer/${task.key}`,
      proofs: [proofOfRow(task)],
    });
    try {
      await this.#engine.execute(command);
    } catch (error) {
      // A stream that has no use for the timer any more is put right; what the database could not do is tried again when the lease runs out.
      if (!(error instanceof ForgeError) || error.code === ErrorCode.STORAGE_ERROR) this.#onBug(error, "timers");
      else if (error.reason !== "LEASE_LOST") await this.#repair.stream(task.namespace, task.streamId, task.streamKind);
    }
  }
}
