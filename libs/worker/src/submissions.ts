import { create } from "@bufbuild/protobuf";
import { Batcher } from "@forge/core";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, type TaskLease } from "@forge/protocol/common";
import { type OutputDelta, type Settlement, type TaskAnswer, TaskAnswerSchema, type TaskStart, TaskStartSchema } from "@forge/protocol/worker";
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
    const bounds = { concurrency: 8, batchMax: BATCH_MAX };
    this.#starts = new Batcher(
      (items) => sendEach(items, async (starts) => (await port.worker.startTasks({ workerSessionId: sessionId(), starts })).answers),
      bounds,
    );
    this.#settlements = new Batcher(
      (items) => sendEach(items, async (settlements) => (await port.worker.settleTasks({ workerSessionId: sessionId(), settlements })).answers),
      bounds,
    );
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

/** Sends a batch. One that is refused as a whole for what is in it is sent one by one, so that only the culprit gets the error. */
async function sendEach<Item>(items: readonly Item[], send: (items: Item[]) => Promise<readonly TaskAnswer[]>): Promise<readonly TaskAnswer[]> {
  try {
    return await send([...items]);
  } catch (error) {
    if (items.length === 1 || !isOfContent(error)) throw error;
    const one = async (item: Item): Promise<TaskAnswer> => {
      const [answer] = await send([item]).catch((failure: unknown) => [failed(failure)]);
      return answer as TaskAnswer;
    };
    return await Promise.all(items.map(one));
  }
}

function failed(error: unknown): TaskAnswer {
  if (error instanceof ForgeError) return create(TaskAnswerSchema, { error: error.detail });
  throw error;
}

/** Whether a submission was refused for what is in it: text that is none, or more than a request may hold. */
export function isOfContent(error: unknown): error is ForgeError {
  return error instanceof ForgeError && (error.code === ErrorCode.VALIDATION || (error.code === ErrorCode.RESOURCE_EXHAUSTED && !error.detail.retryable));
}
