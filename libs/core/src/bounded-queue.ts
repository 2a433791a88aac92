/** A queue between one producer that never waits and one consumer that may be slow; bounded in items and in weight. */
export class BoundedQueue<Item> {
  readonly #itemsMax: number;
  readonly #weightMax: number;
  #items: { item: Item; weight: number }[] = [];
  #weight = 0;
  #notify: (() => void) | undefined;

  constructor(itemsMax: number, weightMax: number) {
    this.#itemsMax = itemsMax;
    this.#weightMax = weightMax;
  }

  /** False where the queue is full: the item was not taken. */
  push(item: Item, weight: number): boolean {
    if (this.#items.length >= this.#itemsMax || this.#weight + weight > this.#weightMax) return false;
    this.#items.push({ item, weight });
    this.#weight += weight;
    this.#notify?.();
    return true;
  }

  /** Everything that waits, in order. */
  take(): readonly Item[] {
    const items = this.#items;
    this.#items = [];
    this.#weight = 0;
    return items.map((entry) => entry.item);
  }

  get length(): number {
    return this.#items.length;
  }

  /** Wakes the consumer though nothing was pushed. */
  nudge(): void {
    this.#notify?.();
  }

  /** Resolves when something waits, when nudged, after the time, or when the signal aborts. */
  wait(waitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#items.length > 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        this.#notify = undefined;
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      signal.addEventListener("abort", done, { once: true });
      this.#notify = done;
    });
  }
}
