import { Batcher } from "@forge/core";
import type { Store } from "../ports/index.ts";
import { streamKey } from "./identity.ts";

type Head = Awaited<ReturnType<Store["heads"]>>[number];
type StreamName = Pick<Head, "namespace" | "streamId">;

/**
 * Reads how far streams have come. What is asked while a statement is on its way goes together in the next, so that many readers cost few statements; a head that is answered holds everything
 * that was acknowledged before it was asked for.
 */
export class HeadReader {
  readonly #batcher: Batcher<StreamName, Head | undefined>;

  constructor(store: Pick<Store, "heads">) {
    this.#batcher = new Batcher(
      async (asked) => {
        const names = new Map(asked.map((name) => [keyOf(name), name]));
        const found = new Map((await store.heads([...names.values()])).map((head) => [keyOf(head), head]));
        return asked.map((name) => found.get(keyOf(name)));
      },
      { concurrency: 2, batchMax: 256 },
    );
  }

  /** Undefined: there is no such stream. */
  async read(namespace: string, streamId: string): Promise<Head | undefined> {
    return await this.#batcher.submit({ namespace, streamId });
  }
}

function keyOf({ namespace, streamId }: StreamName): string {
  return streamKey(namespace, streamId);
}
