import { create } from "@bufbuild/protobuf";
import { Batcher, backoffMs, pause } from "@forge/core";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, type ForgeError as ForgeErrorDetail } from "@forge/protocol/common";
import { type OutputDelta, type Settlement, type TaskAnswer, type TaskLease, type TaskStart, TaskStartSchema } from "@forge/protocol/worker";
import type { ControlPlanePort } from "./port.ts";

const BATCH_MAX = 500;
/** A submission that can't be delivered is tried for this long; then the lease has long been lost. */
const PATIENCE_MS = 60_000;

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
    await this.#persist(() => this.#starts.submit(start));
  }

  /** Resolves once the settlement is durable, or refused because the task is no longer this worker's. */
  async settle(settlement: Settlement): Promise<void> {
    try {
      await this.#persist(() => this.#settlements.submit(settlement));
    } catch (error) {
      // Another epoch works on it, or it has ended: there is nothing more to say.
      if (!(error instanceof ForgeError) || error.reason !== "LEASE_LOST") throw error;
    }
  }

  async report(deltas: OutputDelta[]): Promise<void> {
    await this.#port.worker.reportOutput({ workerSessionId: this.#sessionId(), deltas });
  }

  async #persist(submit: () => Promise<TaskAnswer>): Promise<void> {
    const untilMs = Date.now() + PATIENCE_MS;
    for (let attempt = 0; ; attempt++) {
      let error: ForgeErrorDetail | undefined;
      try {
        error = (await submit()).error;
      } catch (failure) {
        if (!(failure instanceof ForgeError)) throw failure;
        error = failure.detail;
      }
      if (error === undefined) return;
      if (!passing(error) || Date.now() > untilMs) throw ForgeError.from(error);
      await pause(backoffMs(attempt, 20, 1000));
    }
  }
}

/** Whether the same submission may succeed later. */
function passing(error: ForgeErrorDetail): boolean {
  return error.code === ErrorCode.STORAGE_ERROR || error.code === ErrorCode.WORKER_LOST || error.code === ErrorCode.RESOURCE_EXHAUSTED || error.reason === "WORKER_SESSION";
}
