import type { Store } from "../ports/index.ts";
import { streamKey } from "../stream/identity.ts";

/** Output that is whole elsewhere may stay this long: nobody waits for its end, and several turns of a stream are pruned at once. */
const DELAY_MS = 1_000;

interface Waiting {
  readonly namespace: string;
  readonly streamId: string;
  throughSeq: number;
}

/** Removes output that is durable as a whole, some time later and beside everything else. What is not removed before a stop goes with the stream's next turn. */
export class DeltaPruner {
  readonly #store: Pick<Store, "pruneDeltas">;
  readonly #onProblem: (error: unknown) => void;
  readonly #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(store: Pick<Store, "pruneDeltas">, onProblem: (error: unknown) => void) {
    this.#store = store;
    this.#onProblem = onProblem;
  }

  prune(namespace: string, streamId: string, throughSeq: number): void {
    if (this.#stopped) return;
    this.#waiting.set(streamKey(namespace, streamId), { namespace, streamId, throughSeq });
    if (this.#running === undefined) this.#schedule();
  }

  /** Resolves once the store is not asked for anything any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#waiting.clear();
    await this.#running;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
        if (this.#waiting.size > 0) this.#schedule();
      });
    }, DELAY_MS).unref();
  }

  async #run(): Promise<void> {
    const due = [...this.#waiting.values()];
    this.#waiting.clear();
    // One after the other: it must not take the connections of those who wait.
    for (const { namespace, streamId, throughSeq } of due) {
      if (this.#stopped) return;
      await this.#store.pruneDeltas(namespace, streamId, throughSeq).catch(this.#onProblem);
    }
  }
}
