import { Batcher } from "@forge/core";
import type { Store } from "../ports/index.ts";
import { HeadReader } from "../stream/head-reader.ts";

/** What every subscription asks the store when it begins. Those that begin while a statement is on its way share the next, so that a thousand that come back at once cost few. */
export class SubscriptionStart {
  readonly #heads: HeadReader;
  readonly #incarnation: Batcher<undefined, string>;

  constructor(store: Pick<Store, "heads" | "incarnation">) {
    this.#heads = new HeadReader(store);
    this.#incarnation = new Batcher(
      async (asked) => {
        const incarnation = await store.incarnation();
        return asked.map(() => incarnation);
      },
      { concurrency: 1, batchMax: 10_000 },
    );
  }

  /** How far a stream has come; undefined: there is none. */
  async head(...name: Parameters<HeadReader["read"]>): ReturnType<HeadReader["read"]> {
    return await this.#heads.read(...name);
  }

  /** The store's, as of after the question. */
  async incarnation(): Promise<string> {
    return await this.#incarnation.submit(undefined);
  }
}
