import type { Store, StoredEvent } from "../ports/index.ts";
import { streamKey } from "./identity.ts";

/** The newest events of a stream, without a gap; output that no fold reads is counted and not kept. */
interface Tail {
  readonly events: StoredEvent[];
  /** All events after this seq are kept, up to `throughSeq`. */
  afterSeq: number;
  throughSeq: number;
  bytes: number;
}

/** Of one stream, and of all. */
const STREAM_BYTES_MAX = 256 * 1024;
const BYTES_MAX = 16 * 1024 * 1024;
/** What an event takes beside its bytes. */
const EVENT_BYTES = 64;
/** What a stream takes of which nothing is kept. */
const TAIL_BYTES = 256;

/**
 * Events that were appended here of late: an executor asks for a session's right after they were written. An event never changes, so that none can be stale, and what is not
 * kept is read from the store.
 */
export class RecentEvents implements Pick<Store, "readEvents"> {
  readonly #store: Pick<Store, "readEvents">;
  /** The one that was added to least recently first. */
  readonly #tails = new Map<string, Tail>();
  #bytes = 0;

  constructor(store: Pick<Store, "readEvents">) {
    this.#store = store;
  }

  /** Events that were appended, in order and without a gap. `deltas`: they are output that no fold reads. */
  add(namespace: string, streamId: string, events: readonly StoredEvent[], deltas: boolean): void {
    const [first, last] = [events[0], events.at(-1)];
    if (first === undefined || last === undefined) return;
    const key = streamKey(namespace, streamId);
    const known = this.#tails.get(key);
    // Another replica has written between: what is kept of before is no use.
    if (known !== undefined && known.throughSeq !== first.seq - 1) this.#drop(key, known);
    const tail = this.#tails.get(key) ?? this.#begin(first.seq - 1);
    this.#tails.delete(key);
    this.#tails.set(key, tail);
    tail.throughSeq = last.seq;
    if (!deltas) for (const event of events) this.#keep(tail, event);
    while (tail.bytes > STREAM_BYTES_MAX) this.#forgetFirst(tail);
    for (const [oldest, other] of this.#tails) {
      if (this.#bytes <= BYTES_MAX) break;
      this.#drop(oldest, other);
    }
  }

  async readEvents(...[namespace, streamId, range]: Parameters<Store["readEvents"]>): ReturnType<Store["readEvents"]> {
    const { afterSeq, throughSeq, limit, deltas, kinds } = range;
    const tail = this.#tails.get(streamKey(namespace, streamId));
    const isWhole = !deltas && kinds === undefined && throughSeq !== undefined;
    if (!isWhole || tail === undefined || afterSeq < tail.afterSeq || throughSeq > tail.throughSeq)
      return await this.#store.readEvents(namespace, streamId, range);
    const events = tail.events.filter(({ seq }) => seq > afterSeq && seq <= throughSeq).slice(0, limit);
    return { events, headSeq: tail.throughSeq, prunedThroughSeq: 0 };
  }

  #begin(afterSeq: number): Tail {
    const tail: Tail = { events: [], afterSeq, throughSeq: afterSeq, bytes: 0 };
    this.#weigh(tail, TAIL_BYTES);
    return tail;
  }

  #keep(tail: Tail, event: StoredEvent): void {
    tail.events.push(event);
    this.#weigh(tail, weightOf(event));
  }

  #forgetFirst(tail: Tail): void {
    const first = tail.events.shift() as StoredEvent;
    tail.afterSeq = first.seq;
    this.#weigh(tail, -weightOf(first));
  }

  #drop(key: string, tail: Tail): void {
    this.#bytes -= tail.bytes;
    this.#tails.delete(key);
  }

  #weigh(tail: Tail, bytes: number): void {
    tail.bytes += bytes;
    this.#bytes += bytes;
  }
}

function weightOf({ bytes }: StoredEvent): number {
  return bytes.length + EVENT_BYTES;
}
