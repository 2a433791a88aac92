import { Lru, pause } from "@forge/core";
import type { KindedListing, Store } from "../ports/index.ts";

/** Somebody who watches a namespace's streams on this replica. Called synchronously; must not throw and must not wait. */
export interface Watcher {
  /** What lists show of a stream now. */
  onChanged(row: KindedListing): void;
  /** Something may have been missed: lists have to be read anew. */
  onMissed(): void;
}

interface Watched {
  readonly watchers: Set<Watcher>;
  /** Streams that have moved since their rows were last read. */
  readonly moved: Set<string>;
  /** Rows as they were last told, so that a stream that moves without a change in lists is not told again. */
  readonly told: Lru<string>;
  isReading: boolean;
}

/** What moves within this time is read and told together. */
const COALESCE_MS = 25;
/** Of one namespace; beyond that who watches reads its lists anew, which is cheaper than that many changes. */
const MOVED_MAX = 10_000;
const TOLD_MAX = 10_000;
const BATCH = 500;

/** Who watches which namespace on this replica. Where nobody watches, a stream that moves costs one look into an empty map. */
export class Watchers {
  readonly #store: Pick<Store, "listed">;
  readonly #onProblem: (error: unknown) => void;
  readonly #watched = new Map<string, Watched>();

  constructor(store: Pick<Store, "listed">, onProblem: (error: unknown) => void) {
    this.#store = store;
    this.#onProblem = onProblem;
  }

  add(namespace: string, watcher: Watcher): void {
    const watched = this.#watched.get(namespace) ?? { watchers: new Set(), moved: new Set(), told: new Lru(TOLD_MAX), isReading: false };
    watched.watchers.add(watcher);
    this.#watched.set(namespace, watched);
  }

  remove(namespace: string, watcher: Watcher): void {
    const watched = this.#watched.get(namespace);
    watched?.watchers.delete(watcher);
    if (watched?.watchers.size === 0) this.#watched.delete(namespace);
  }

  /** A stream has moved, here or elsewhere. */
  moved(namespace: string, streamId: string): void {
    const watched = this.#watched.get(namespace);
    if (watched === undefined) return;
    if (watched.moved.size >= MOVED_MAX) {
      miss(watched);
      return;
    }
    watched.moved.add(streamId);
    if (watched.isReading) return;
    watched.isReading = true;
    void this.#read(namespace, watched);
  }

  /** Nobody knows what has moved meanwhile. */
  missed(): void {
    for (const watched of this.#watched.values()) miss(watched);
  }

  async #read(namespace: string, watched: Watched): Promise<void> {
    while (watched.moved.size > 0 && watched.watchers.size > 0) {
      await pause(COALESCE_MS);
      const streamIds = [...watched.moved].slice(0, BATCH);
      for (const streamId of streamIds) watched.moved.delete(streamId);
      try {
        for (const row of await this.#store.listed(namespace, streamIds)) tell(watched, row);
      } catch (error) {
        this.#onProblem(error);
        miss(watched);
      }
    }
    // In the same step as the last look, so that whatever moves next begins anew.
    watched.isReading = false;
  }
}

function tell({ watchers, told }: Watched, row: KindedListing): void {
  const shown = JSON.stringify(row);
  if (told.get(row.streamId) === shown) return;
  told.set(row.streamId, shown);
  for (const watcher of watchers) watcher.onChanged(row);
}

function miss({ watchers, moved }: Watched): void {
  moved.clear();
  for (const watcher of watchers) watcher.onMissed();
}
