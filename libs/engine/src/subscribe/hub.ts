import type { StoredEvent } from "../ports/index.ts";
import { streamKey } from "../stream/identity.ts";

/** Somebody who follows streams on this replica. Called synchronously; must not throw and must not wait. */
export interface Listener {
  /** Events were appended here: contiguous, deltas included. */
  onEvents(streamId: string, events: readonly StoredEvent[]): void;
  /** The stream has moved to seq somewhere: what lies between must be read. */
  onMoved(streamId: string, seq: number): void;
}

/** Who follows which stream on this replica. */
export class Hub {
  readonly #listeners = new Map<string, Set<Listener>>();

  add(namespace: string, streamId: string, listener: Listener): void {
    const key = streamKey(namespace, streamId);
    const listeners = this.#listeners.get(key) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(key, listeners);
  }

  remove(namespace: string, streamId: string, listener: Listener): void {
    const key = streamKey(namespace, streamId);
    const listeners = this.#listeners.get(key);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#listeners.delete(key);
  }

  publish(namespace: string, streamId: string, events: readonly StoredEvent[]): void {
    for (const listener of this.#listeners.get(streamKey(namespace, streamId)) ?? []) listener.onEvents(streamId, events);
  }

  moved(namespace: string, streamId: string, seq: number): void {
    for (const listener of this.#listeners.get(streamKey(namespace, streamId)) ?? []) listener.onMoved(streamId, seq);
  }

  /** The streams that somebody follows. */
  streams(): readonly { readonly namespace: string; readonly streamId: string }[] {
    return [...this.#listeners.keys()].map((key) => {
      const [namespace, streamId] = key.split("\n") as [string, string];
      return { namespace, streamId };
    });
  }
}
