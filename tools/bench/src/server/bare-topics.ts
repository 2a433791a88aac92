import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { StreamKind } from "@forge/protocol/common";
import { type Event, EventSchema, type SubscribeEventsResponse, SubscribeEventsResponseSchema } from "@forge/protocol/event";

interface Topic {
  readonly events: SubscribeEventsResponse[];
  readonly followers: Set<() => void>;
}

/** Logs in memory, and who follows them: what passing events on costs where nothing is decided, stored or checked. */
export class BareTopics {
  readonly #topics = new Map<string, Topic>();

  #of(id: string): Topic {
    const topic = this.#topics.get(id) ?? { events: [], followers: new Set() };
    this.#topics.set(id, topic);
    return topic;
  }

  /** Returns the last one's seq. */
  publish(id: string, drafts: readonly Pick<Event, "kind" | "payload">[]): number {
    const topic = this.#of(id);
    for (const draft of drafts) {
      const seq = BigInt(topic.events.length + 1);
      const event = create(EventSchema, { protocol: "forge.event", stream: { kind: StreamKind.SESSION, id }, seq, occurredAt: timestampNow(), ...draft });
      topic.events.push(create(SubscribeEventsResponseSchema, { kind: { case: "event", value: event } }));
    }
    for (const wake of topic.followers) wake();
    return topic.events.length;
  }

  /** What there is after a seq, that this is all for now, and what comes. Ends when the signal aborts. */
  async *follow(id: string, afterSeq: number, signal: AbortSignal): AsyncGenerator<SubscribeEventsResponse> {
    const topic = this.#of(id);
    let wake: () => void = () => undefined;
    const onEvents = (): void => wake();
    topic.followers.add(onEvents);
    signal.addEventListener("abort", onEvents, { once: true });
    try {
      let next = afterSeq;
      while (next < topic.events.length) yield topic.events[next++] as SubscribeEventsResponse;
      yield create(SubscribeEventsResponseSchema, { kind: { case: "caughtUp", value: {} } });
      while (!signal.aborted) {
        while (next < topic.events.length) yield topic.events[next++] as SubscribeEventsResponse;
        const news = Promise.withResolvers<void>();
        wake = news.resolve;
        if (next >= topic.events.length && !signal.aborted) await news.promise;
      }
    } finally {
      topic.followers.delete(onEvents);
      signal.removeEventListener("abort", onEvents);
    }
  }
}
