import { create, fromBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { BoundedQueue } from "@forge/core";
import { childOf, ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { CaughtUpSchema, EventSchema, type Position, PositionSchema, type SubscribeEventsResponse, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import type { Store, StoredEvent } from "../ports/index.ts";
import type { StreamKindName } from "../stream/aggregate.ts";
import { streamRef } from "../tasks/task-id.ts";
import type { Hub, Listener } from "./hub.ts";
import type { SubscriptionStart } from "./subscription-start.ts";

/** What to follow, checked. */
export interface SubscriptionRequest {
  readonly namespace: string;
  readonly cursors: readonly { readonly kind: StreamKindName; readonly streamId: string; readonly afterSeq: number }[];
  readonly followChildren: boolean;
  readonly exclude: ReadonlySet<string>;
  readonly follow: boolean;
  /** Leave events encoded, for a binary wire. */
  readonly binary: boolean;
  readonly signal: AbortSignal;
}

export interface SubscriptionPorts {
  readonly store: Store;
  /** Shared by all subscriptions: those that begin together, as after a restart, ask together. */
  readonly start: SubscriptionStart;
  readonly hub: Hub;
  readonly heartbeatMs: number;
  /** Events and bytes that may wait for one subscriber. */
  readonly queueItemsMax: number;
  readonly queueBytesMax: number;
}

interface Followed {
  readonly kind: StreamKindName;
  readonly streamId: string;
  /** The seq of the last event that was sent or passed over. */
  seq: number;
  /** Where the stream is known to have come: beyond seq, something must be read. */
  knownSeq: number;
  /** How far it was said to have come. What is behind that may still come live, which is seen when the reader gets there. */
  movedSeq: number;
  pruned: number;
  /** The position that the subscriber was last told of, by event or marker. */
  toldSeq: number;
}

interface Live {
  readonly streamId: string;
  readonly event: StoredEvent;
}

const PAGE = 500;
/** Kinds of events that may name a child. */
const NAMING: ReadonlySet<string> = new Set(["step.started", "tool.started"]);

/** Replays, says that it has caught up, and follows. Ends when the signal aborts. Errors: not_found, conflict CURSOR_AHEAD, resource_exhausted SLOW_SUBSCRIBER. */
export async function* subscribe(request: SubscriptionRequest, ports: SubscriptionPorts): AsyncGenerator<SubscribeEventsResponse> {
  const subscription = new Subscription(request, ports);
  try {
    yield* subscription.run();
  } finally {
    subscription.close();
  }
}

class Subscription implements Listener {
  readonly #request: SubscriptionRequest;
  readonly #ports: SubscriptionPorts;
  readonly #streams = new Map<string, Followed>();
  readonly #live: BoundedQueue<Live>;
  #overflowed = false;
  /** Streams whose next events must be read from the store. */
  readonly #behind = new Set<Followed>();
  /** Streams that were said to have come further than what has come live. */
  readonly #moved = new Set<Followed>();

  constructor(request: SubscriptionRequest, ports: SubscriptionPorts) {
    this.#request = request;
    this.#ports = ports;
    this.#live = new BoundedQueue(ports.queueItemsMax, ports.queueBytesMax);
  }

  onEvents(streamId: string, events: readonly StoredEvent[]): void {
    const followed = this.#streams.get(streamId) as Followed;
    const last = (events.at(-1) as StoredEvent).seq;
    // While a stream is being read from the store, its live events are found there too: only how far it has come is kept.
    if (this.#behind.has(followed)) {
      followed.knownSeq = Math.max(followed.knownSeq, last);
      return;
    }
    for (const event of events) {
      if (this.#live.push({ streamId, event }, event.bytes.length)) continue;
      this.#overflowed = true;
      this.#live.nudge();
      return;
    }
  }

  onMoved(streamId: string, seq: number): void {
    const followed = this.#streams.get(streamId) as Followed;
    // Every stream's head is told again and again, in case a wake-up was missed: nobody wakes up for what he has.
    if (seq <= followed.seq) return;
    followed.movedSeq = Math.max(followed.movedSeq, seq);
    if (this.#behind.has(followed)) followed.knownSeq = Math.max(followed.knownSeq, seq);
    else this.#moved.add(followed);
    this.#live.nudge();
  }

  async *run(): AsyncGenerator<SubscribeEventsResponse> {
    const { signal, cursors, follow } = this.#request;
    const missing = new Set(cursors.map((cursor) => cursor.streamId));
    for (const cursor of cursors) this.#add(cursor.kind, cursor.streamId, cursor.afterSeq);
    // Asked for at the same time as all the rest, and needed only once that is there: then its failure is told as well.
    const incarnation = this.#ports.start.incarnation();
    incarnation.catch(() => undefined);
    for (const head of await this.#heads(cursors.map((cursor) => cursor.streamId))) missing.delete(head);
    const [absent] = missing;
    if (absent !== undefined) throw new ForgeError(ErrorCode.NOT_FOUND, `stream ${absent} does not exist`, { relatedIds: [absent] });
    if (this.#request.followChildren) for (const { streamId, afterSeq } of cursors) await this.#addEarlierChildren(streamId, afterSeq);
    yield* this.#catchUp();
    yield this.#caughtUp(await incarnation);
    if (!follow) return;
    let toldAtMs = Date.now();
    while (!signal.aborted) {
      if (this.#live.length === 0 && this.#behind.size === 0 && this.#moved.size === 0 && !this.#overflowed) {
        await this.#live.wait(Math.max(1, toldAtMs + this.#ports.heartbeatMs - Date.now()), signal);
      }
      if (this.#overflowed) throw this.#slow();
      yield* this.#takeLive();
      this.#readMoved();
      yield* this.#catchUp();
      const quiet = Date.now() - toldAtMs >= this.#ports.heartbeatMs;
      for (const followed of this.#streams.values()) {
        // Where the filter let nothing pass, the position is told, so that a gap is known for what it is.
        if (followed.toldSeq === followed.seq && !quiet) continue;
        yield position(this.#tell(followed));
      }
      if (quiet) toldAtMs = Date.now();
    }
  }

  close(): void {
    for (const { streamId } of this.#streams.values()) this.#ports.hub.remove(this.#request.namespace, streamId, this);
  }

  #add(kind: StreamKindName, streamId: string, afterSeq: number): void {
    if (this.#streams.has(streamId)) return;
    const followed: Followed = { kind, streamId, seq: afterSeq, knownSeq: 0, movedSeq: 0, pruned: 0, toldSeq: afterSeq };
    this.#streams.set(streamId, followed);
    this.#behind.add(followed);
    this.#ports.hub.add(this.#request.namespace, streamId, this);
  }

  #addChild(stored: StoredEvent): void {
    if (!NAMING.has(stored.kind)) return;
    const child = childOf(fromBinary(EventSchema, stored.bytes));
    if (child !== undefined) this.#add(child.kind === StreamKind.RUN ? "run" : "session", child.id, 0);
  }

  /** The children that were named before the cursor: whoever comes back may have heard of a step and of nothing in its session yet. */
  async #addEarlierChildren(streamId: string, throughSeq: number): Promise<void> {
    for (let afterSeq = 0; afterSeq < throughSeq; ) {
      const { events } = await this.#ports.store.readEvents(this.#request.namespace, streamId, { afterSeq, throughSeq, limit: PAGE, deltas: false });
      for (const stored of events) this.#addChild(stored);
      if (events.length < PAGE) return;
      afterSeq = (events.at(-1) as StoredEvent).seq;
    }
  }

  async #heads(streamIds: readonly string[]): Promise<readonly string[]> {
    const heads = await Promise.all(streamIds.map((streamId) => this.#ports.start.head(this.#request.namespace, streamId)));
    return heads
      .filter((head) => head !== undefined)
      .filter((head) => {
        const followed = this.#streams.get(head.streamId) as Followed;
        if (head.kind !== followed.kind) return false;
        if (followed.seq > head.seq) {
          throw new ForgeError(
            ErrorCode.CONFLICT,
            `the cursor ${followed.seq} of stream ${head.streamId} is beyond its head ${head.seq}: the store may have lost its tail; read again from 0`,
            {
              reason: "CURSOR_AHEAD",
              relatedIds: [head.streamId],
              metadata: { current_seq: String(head.seq) },
            },
          );
        }
        return true;
      })
      .map((head) => head.streamId);
  }

  async *#catchUp(): AsyncGenerator<SubscribeEventsResponse> {
    while (this.#behind.size > 0 && !this.#request.signal.aborted) {
      for (const followed of this.#behind) yield* this.#readPage(followed);
    }
  }

  async *#readPage(followed: Followed): AsyncGenerator<SubscribeEventsResponse> {
    const knownBefore = followed.knownSeq;
    const page = await this.#ports.store.readEvents(this.#request.namespace, followed.streamId, { afterSeq: followed.seq, limit: PAGE, deltas: true });
    followed.pruned = page.prunedThroughSeq;
    for (const event of page.events) yield* this.#pass(followed, event);
    if (page.events.length === PAGE) return;
    // The page reached the head: what is missing before it was pruned.
    followed.seq = Math.max(followed.seq, page.headSeq);
    // What was known before the read and is not in it was a wrong hint; what became known during the read may be news.
    if (followed.knownSeq > followed.seq && followed.knownSeq !== knownBefore) return;
    followed.knownSeq = followed.seq;
    this.#behind.delete(followed);
  }

  async *#takeLive(): AsyncGenerator<SubscribeEventsResponse> {
    for (const { streamId, event } of this.#live.take()) {
      const followed = this.#streams.get(streamId) as Followed;
      if (event.seq <= followed.seq || this.#behind.has(followed)) {
        followed.knownSeq = Math.max(followed.knownSeq, event.seq);
        continue;
      }
      if (event.seq === followed.seq + 1) {
        yield* this.#pass(followed, event);
        continue;
      }
      followed.knownSeq = Math.max(followed.knownSeq, event.seq);
      this.#behind.add(followed);
    }
  }

  /** What was said to be there and has not come live must be read. */
  #readMoved(): void {
    for (const followed of this.#moved) {
      if (followed.movedSeq <= followed.seq) continue;
      followed.knownSeq = Math.max(followed.knownSeq, followed.movedSeq);
      this.#behind.add(followed);
    }
    this.#moved.clear();
  }

  *#pass(followed: Followed, stored: StoredEvent): Generator<SubscribeEventsResponse> {
    followed.seq = stored.seq;
    followed.knownSeq = Math.max(followed.knownSeq, stored.seq);
    if (this.#request.followChildren) this.#addChild(stored);
    if (this.#request.exclude.has(stored.kind)) return;
    followed.toldSeq = stored.seq;
    yield this.#request.binary ? encodedEvent(stored.bytes) : decodedEvent(stored.bytes);
  }

  #tell(followed: Followed): Position {
    followed.toldSeq = followed.seq;
    return create(PositionSchema, {
      stream: streamRef(followed.kind, followed.streamId),
      seq: BigInt(followed.seq),
      prunedThroughSeq: BigInt(followed.pruned),
    });
  }

  #caughtUp(incarnation: string): SubscribeEventsResponse {
    const positions = [...this.#streams.values()].map((followed) => this.#tell(followed));
    return create(SubscribeEventsResponseSchema, { kind: { case: "caughtUp", value: create(CaughtUpSchema, { incarnation, positions }) } });
  }

  #slow(): ForgeError {
    const seqs = [...this.#streams.values()].map(({ streamId, seq }) => [`seq:${streamId}`, String(seq)] as const);
    return new ForgeError(
      ErrorCode.RESOURCE_EXHAUSTED,
      `this subscriber fell ${this.#ports.queueItemsMax} events or ${this.#ports.queueBytesMax} bytes behind: subscribe again after the seq in the metadata`,
      {
        reason: "SLOW_SUBSCRIBER",
        metadata: Object.fromEntries(seqs.slice(0, 100)),
      },
    );
  }
}

function position(value: Position): SubscribeEventsResponse {
  return create(SubscribeEventsResponseSchema, { kind: { case: "position", value } });
}

function decodedEvent(bytes: Uint8Array): SubscribeEventsResponse {
  return create(SubscribeEventsResponseSchema, { kind: { case: "event", value: fromBinary(EventSchema, bytes) } });
}

const EVENT_FIELD = 1;

/** The event stays the bytes that were stored: as an unknown field, which is written as it is, they are field 1 for whoever decodes. */
function encodedEvent(bytes: Uint8Array): SubscribeEventsResponse {
  const response = create(SubscribeEventsResponseSchema);
  const prefixed = new BinaryWriter().bytes(bytes).finish();
  response.$unknown = [{ no: EVENT_FIELD, wireType: WireType.LengthDelimited, data: prefixed }];
  return response;
}
