interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Fewer items than this are not shared among several batches. */
const SHARE_MIN = 8;

/** How a Batcher behaves. */
export interface BatcherOptions {
  /** Batches on their way at once. */
  readonly concurrency: number;
  /** Items in one batch at most. */
  readonly batchMax: number;
  /** Batches follow each other at this distance at least, for what is not urgent: company for the next is waited for, never for the first. Absent: none. */
  readonly intervalMs?: number;
}

/**
 * Group commit: what arrives while batches are on their way goes together in the next. An idle batcher sends at once, so nothing waits for company.
 * `send` gets 1 to batchMax items and answers each, in order; when it rejects, every item of that batch is rejected with the same error.
 */
export class Batcher<Item, Outcome> {
  readonly #send: (items: readonly Item[]) => Promise<readonly Outcome[]>;
  readonly #options: BatcherOptions;
  #waiting: Waiting<Item, Outcome>[] = [];
  #inFlight = 0;
  #scheduled = false;
  /** When the next batch may go; of performance.now(). */
  #nextAtMs = 0;

  constructor(send: (items: readonly Item[]) => Promise<readonly Outcome[]>, options: BatcherOptions) {
    this.#send = send;
    this.#options = options;
  }

  submit(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Items of one turn of the event loop share a batch: they are all there before the first is sent. */
  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= this.#options.concurrency) return;
    this.#scheduled = true;
    const { intervalMs = 0 } = this.#options;
    const go = (): void => {
      this.#scheduled = false;
      this.#nextAtMs = performance.now() + intervalMs;
      while (this.#waiting.length > 0 && this.#inFlight < this.#options.concurrency) void this.#flush(this.#share());
    };
    const restMs = intervalMs > 0 ? this.#nextAtMs - performance.now() : 0;
    if (restMs > 0) setTimeout(go, restMs);
    else setImmediate(go);
  }

  /**
   * What waits is shared among the batches that may go now: one large batch would leave its senders idle together while it is on its way, and the
   * receiver idle while they prepare the next. Few items stay together, since each batch costs something by itself.
   */
  #share(): number {
    const free = this.#options.concurrency - this.#inFlight;
    return Math.min(this.#options.batchMax, Math.max(SHARE_MIN, Math.ceil(this.#waiting.length / free)));
  }

  async #flush(size: number): Promise<void> {
    const batch = this.#waiting.splice(0, size);
    this.#inFlight++;
    try {
      const outcomes = await this.#send(batch.map((waiting) => waiting.item));
      for (const [index, waiting] of batch.entries()) waiting.resolve(outcomes[index] as Outcome);
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    } finally {
      this.#inFlight--;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }
}
