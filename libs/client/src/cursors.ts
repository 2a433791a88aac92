import { childOf } from "@forge/protocol";
import type { StreamRef } from "@forge/protocol/common";
import type { Event, Position } from "@forge/protocol/event";

type Stream = Pick<StreamRef, "kind" | "id">;

interface Cursor {
  readonly stream: Stream;
  readonly afterSeq: bigint;
}

/** What one subscription may name. Children beyond it are followed from their beginning again, and what has come of them is passed over. */
const STREAMS_MAX = 1_000;

/** How far a reader has come in each stream that it follows, children that it met on the way included. */
export class Cursors {
  readonly #cursors = new Map<string, Cursor>();
  readonly #followsChildren: boolean;
  /** Streams that the reader named: they are asked for however many they are, so that too many are refused and none is left out. */
  readonly #named: number;
  /** Children of which nothing has come yet: the parent, and the event there that names the child. */
  readonly #unseen = new Map<string, { readonly parentId: string; readonly seq: bigint }>();

  constructor(options: { readonly streams: readonly { readonly stream: Stream; readonly afterSeq?: number }[]; readonly followChildren?: boolean }) {
    for (const { stream, afterSeq } of options.streams) this.#cursors.set(stream.id, { stream, afterSeq: BigInt(afterSeq ?? 0) });
    this.#named = this.#cursors.size;
    this.#followsChildren = options.followChildren ?? false;
  }

  /** Moves past an event; false where it was passed before. */
  isNew(event: Event): boolean {
    const { stream, seq } = event;
    if (stream === undefined || !this.#move(stream, seq)) return false;
    const child = this.#followsChildren ? childOf(event) : undefined;
    if (child !== undefined && !this.#cursors.has(child.id)) this.#unseen.set(child.id, { parentId: stream.id, seq });
    return true;
  }

  moveTo({ stream, seq }: Position): void {
    if (stream !== undefined) this.#move(stream, seq);
  }

  /**
   * What to ask for in a new subscription. A child that has come is asked for by itself. One that has not may not be there yet, which would be an error: the
   * event that names it is asked for once more instead.
   */
  toAsk(): Cursor[] {
    return [...this.#cursors.values()].slice(0, Math.max(this.#named, STREAMS_MAX)).map(({ stream, afterSeq }) => {
      const named = [...this.#unseen.values()].filter(({ parentId }) => parentId === stream.id).map(({ seq }) => seq - 1n);
      return { stream, afterSeq: named.reduce((least, seq) => (seq < least ? seq : least), afterSeq) };
    });
  }

  #move(stream: Stream, seq: bigint): boolean {
    if (seq <= (this.#cursors.get(stream.id)?.afterSeq ?? 0n)) return false;
    this.#cursors.set(stream.id, { stream, afterSeq: seq });
    this.#unseen.delete(stream.id);
    return true;
  }
}
