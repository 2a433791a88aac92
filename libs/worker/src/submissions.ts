import { create } from "@bufbuild/protobuf";
import { Batcher } from "@forge/core";
import { ForgeError } from "@forge/protocol";
import { type OutputDelta, type Settlement, type TaskAnswer, type TaskLease, type TaskStart, TaskStartSchema } from "@forge/protocol/worker";
import { persist } from "./persist.ts";
import type { ControlPlanePort } from "./port.ts";

const BATCH_MAX = 500;

/** Sends starts, settlements and output of a worker session, batched; each is idempotent, so what failed in transit is sent again. */
export class Submissions {
  readonly #sessionId: () => string;
  readonly #port: ControlPlanePort;
  readonly #starts: Batcher<TaskStart, TaskAnswer>;
  readonly #settlements: Batcher<Settlement, TaskAnswer>;

  constructor(port: ControlPlanePort, sessionId: () => string) {
    this.#port = port;
    this.#sessionId = sessionId;
    this.#starts = new Batcher(async (starts) => (await port.worker.startTasks({ workerSessionId: sessionId(), starts: [...starts] })).answers, { concurrency: 8, batchMax: BATCH_MAX });
    this.#settlements = new Batcher(async (settlements) => (await port.worker.settleTasks({ workerSessionId: sessionId(), settlements: [...settlements] })).answers, {
      concurrency: 8,
      batchMax: BATCH_MAX,
    });
  }

  /** Resolves with the go-ahead; rejects when the start was refused. */
  async start(lease: TaskLease, kind: TaskStart["kind"]): Promise<void> {
    const start = create(TaskStartSchema, { lease, kind });
    await this.#deliver(() => this.#starts.submit(start));
  }

  /** Resolves once the settlement is durable, or refused because the task is no longer this worker's. */
  async settle(settlement: Settlement): Promise<void> {
    try {
      await this.#deliver(() => this.#settlements.submit(settlement));
    } catch (error) {
      // Another epoch works on it, or it has ended: there is nothing more to say.
      if (!(error instanceof ForgeError) || error.reason !== "LEASE_LOST") throw error;
    }
  }

  async report(deltas: OutputDelta[]): Promise<void> {
    await this.#port.worker.reportOutput({ workerSessionId: this.#sessionId(), deltas });
  }

  async #deliver(submit: () => Promise<TaskAnswer>): Promise<void> {
    await persist(async () => {
      const { error } = await submit();
      if (error !== undefined) throw ForgeError.from(error);
    });
  }
}
