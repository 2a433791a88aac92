import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { EventSchema, type SubscribeEventsResponse, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { describe, expect, it } from "vitest";
import type { Store, StoredEvent } from "../ports/index.ts";
import { Hub } from "./hub.ts";
import { type SubscriptionRequest, subscribe } from "./subscription.ts";
import { SubscriptionStart } from "./subscription-start.ts";

const RUN = "0190a000-0000-7000-8000-000000000001";
const CHILD = "0190a000-0000-7000-8000-000000000002";

function stored(streamId: string, seq: number, kind = "message.added", payload: object = {}): StoredEvent {
  const event = create(EventSchema, { seq: BigInt(seq), kind, stream: { id: streamId }, ...payload });
  return { seq, kind, bytes: toBinary(EventSchema, event) };
}

function setup(streams: Record<string, StoredEvent[]>, bounds: { items?: number } = {}) {
  const hub = new Hub();
  let beforeRead: (() => void) | undefined;
  let pruned = 0;
  const store = {
    heads: async (asked: { namespace: string; streamId: string }[]) =>
      asked.flatMap(({ namespace, streamId }) => {
        const last = streams[streamId]?.at(-1);
        return last === undefined ? [] : [{ namespace, streamId, kind: "run", seq: last.seq }];
      }),
    readEvents: async (_: string, streamId: string, { afterSeq, limit }: { afterSeq: number; limit: number }) => {
      const events = streams[streamId] ?? [];
      const page = { events: events.filter((event) => event.seq > afterSeq).slice(0, limit), headSeq: events.at(-1)?.seq ?? 0, prunedThroughSeq: pruned };
      beforeRead?.();
      return page;
    },
    incarnation: async () => "first",
  } as unknown as Store;
  const stop = new AbortController();
  const ports = { store, start: new SubscriptionStart(store), hub, heartbeatMs: 60_000, queueItemsMax: bounds.items ?? 1000, queueBytesMax: 1 << 20 };
  const request = (options: Partial<SubscriptionRequest> = {}): SubscriptionRequest => ({
    namespace: "default",
    cursors: [{ kind: "run", streamId: RUN, afterSeq: 0 }],
    followChildren: false,
    exclude: new Set(),
    follow: true,
    binary: false,
    signal: stop.signal,
    ...options,
  });
  /** Stores and publishes, as an append on this replica does. */
  const append = (streamId: string, ...events: StoredEvent[]) => {
    (streams[streamId] ??= []).push(...events);
    hub.publish("default", streamId, events);
  };
  return {
    append,
    hub,
    stop,
    open: (options?: Partial<SubscriptionRequest>) => subscribe(request(options), ports),
    duringRead: (act: () => void) => {
      beforeRead = () => {
        beforeRead = undefined;
        act();
      };
    },
    prune: (throughSeq: number) => {
      pruned = throughSeq;
    },
  };
}

function shown(response: SubscribeEventsResponse): string {
  const { kind } = response;
  if (kind.case === "event") return String(kind.value.seq);
  return kind.case === "position" ? `position ${kind.value.seq}` : (kind.case ?? "");
}

/** The next `count` messages. */
async function take(messages: AsyncGenerator<SubscribeEventsResponse>, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const next = await messages.next();
    if (next.done === true) return [...taken, "end"];
    taken.push(shown(next.value));
  }
  return taken;
}

const many = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => stored(RUN, from + index));

describe("subscribe", () => {
  it("replays what is after the cursor, says once that it has caught up, and follows", async () => {
    const { open, append } = setup({ [RUN]: many(1, 3) });
    const messages = open({ cursors: [{ kind: "run", streamId: RUN, afterSeq: 1 }] });
    expect(await take(messages, 3)).toEqual(["2", "3", "caughtUp"]);
    append(RUN, stored(RUN, 4));
    expect(await take(messages, 1)).toEqual(["4"]);
    append(RUN, ...many(5, 6));
    expect(await take(messages, 2)).toEqual(["5", "6"]);
  });

  it("misses nothing that is appended while it reads, and sends nothing twice", async () => {
    const { open, append, duringRead } = setup({ [RUN]: many(1, 2) });
    const messages = open();
    duringRead(() => append(RUN, ...many(3, 4)));
    expect(await take(messages, 5)).toEqual(["1", "2", "3", "4", "caughtUp"]);
  });

  it("reads what another replica appended, and what a lost wake-up left out, before it goes on", async () => {
    const streams = { [RUN]: many(1, 1) };
    const { open, append, hub } = setup(streams);
    const messages = open();
    expect(await take(messages, 2)).toEqual(["1", "caughtUp"]);
    streams[RUN]?.push(...many(2, 3));
    hub.moved("default", RUN, 3);
    expect(await take(messages, 2)).toEqual(["2", "3"]);
    streams[RUN]?.push(...many(4, 5));
    append(RUN, stored(RUN, 6));
    expect(await take(messages, 3)).toEqual(["4", "5", "6"]);
  });

  it("is not held up by a hint of a seq that never comes", async () => {
    const { open, append, hub } = setup({ [RUN]: many(1, 1) });
    const messages = open();
    await take(messages, 2);
    hub.moved("default", RUN, 99);
    append(RUN, stored(RUN, 2));
    expect(await take(messages, 1)).toEqual(["2"]);
  });

  it("tells the position where the filter lets nothing pass", async () => {
    const { open, append } = setup({ [RUN]: [stored(RUN, 1), stored(RUN, 2, "turn.output_delta")] });
    const messages = open({ exclude: new Set(["turn.output_delta"]) });
    expect(await take(messages, 2)).toEqual(["1", "caughtUp"]);
    append(RUN, stored(RUN, 3, "turn.output_delta"));
    expect(await take(messages, 1)).toEqual(["position 3"]);
  });

  it("passes over a range of deltas that was pruned", async () => {
    const { open, prune } = setup({ [RUN]: [stored(RUN, 1), stored(RUN, 9)] });
    prune(8);
    expect(await take(open(), 3)).toEqual(["1", "9", "caughtUp"]);
  });

  it("follows the sessions of a run's steps from their beginning, also those that do not exist yet", async () => {
    const step = stored(RUN, 1, "step.started", { payload: { case: "stepStarted", value: { sessionId: CHILD } } });
    const { open, append } = setup({ [RUN]: [step] });
    const messages = open({ followChildren: true });
    expect(await take(messages, 2)).toEqual(["1", "caughtUp"]);
    append(CHILD, stored(CHILD, 1));
    expect(await take(messages, 1)).toEqual(["1"]);
  });

  it("follows the runs and sub-agents that work for a stream, at any depth, also those that were named before the cursor", async () => {
    const [SUB_RUN, SUB_AGENT] = ["00000000-0000-8000-8000-00000000000a", "00000000-0000-8000-8000-00000000000b"] as const;
    const { open } = setup({
      [RUN]: [stored(RUN, 1, "step.started", { payload: { case: "stepStarted", value: { childRunId: SUB_RUN } } }), stored(RUN, 2)],
      [SUB_RUN]: [stored(SUB_RUN, 1, "step.started", { payload: { case: "stepStarted", value: { sessionId: CHILD } } })],
      [CHILD]: [stored(CHILD, 1, "tool.started", { payload: { case: "toolStarted", value: { childSessionId: SUB_AGENT } } })],
      [SUB_AGENT]: [stored(SUB_AGENT, 1), stored(SUB_AGENT, 2), stored(SUB_AGENT, 3)],
    });
    const whole = await take(open({ followChildren: true, follow: false }), 9);
    expect(whole).toEqual(["1", "2", "1", "1", "1", "2", "3", "caughtUp", "end"]);
    const resumed = open({ followChildren: true, follow: false, cursors: [{ kind: "run", streamId: RUN, afterSeq: 2 }] });
    expect(await take(resumed, 7)).toEqual(["1", "1", "1", "2", "3", "caughtUp", "end"]);
    const exact = open({
      followChildren: true,
      follow: false,
      cursors: [RUN, SUB_RUN, CHILD, SUB_AGENT].map((streamId, index) => ({ kind: "run" as const, streamId, afterSeq: index === 0 ? 2 : 1 })),
    });
    expect(await take(exact, 4)).toEqual(["2", "3", "caughtUp", "end"]);
  });

  it("ends a subscriber that falls behind, with the seq to go on after, and tells no other", async () => {
    const { open, append } = setup({ [RUN]: many(1, 1) }, { items: 10 });
    const slow = open();
    const quick = open();
    await take(slow, 2);
    await take(quick, 2);
    for (let seq = 2; seq <= 12; seq++) {
      append(RUN, stored(RUN, seq));
      expect(await take(quick, 1)).toEqual([String(seq)]);
    }
    await expect(slow.next()).rejects.toMatchObject({ reason: "SLOW_SUBSCRIBER", detail: { metadata: { [`seq:${RUN}`]: "1" } } });
  });

  it("ends it all the same where it is told meanwhile how far the stream has come", async () => {
    const { open, append, hub } = setup({ [RUN]: many(1, 1) }, { items: 10 });
    const slow = open();
    await take(slow, 2);
    for (let seq = 2; seq <= 12; seq++) {
      append(RUN, stored(RUN, seq));
      hub.moved("default", RUN, seq);
    }
    await expect(slow.next()).rejects.toMatchObject({ reason: "SLOW_SUBSCRIBER" });
  });

  it("refuses a stream that does not exist and a cursor beyond the head", async () => {
    const { open } = setup({ [RUN]: many(1, 2) });
    await expect(open({ cursors: [{ kind: "run", streamId: CHILD, afterSeq: 0 }] }).next()).rejects.toThrow("does not exist");
    const ahead = open({ cursors: [{ kind: "run", streamId: RUN, afterSeq: 3 }] }).next();
    await expect(ahead).rejects.toSatisfy(
      (error) => error instanceof ForgeError && error.reason === "CURSOR_AHEAD" && error.detail.metadata.current_seq === "2",
    );
  });

  it("ends after it has caught up when it is not to follow, and when it is aborted", async () => {
    const { open, stop } = setup({ [RUN]: many(1, 1) });
    expect(await take(open({ follow: false }), 3)).toEqual(["1", "caughtUp", "end"]);
    const following = open();
    await take(following, 2);
    const next = take(following, 1);
    stop.abort();
    expect(await next).toEqual(["end"]);
  });

  it("leaves an event as the bytes that were stored, which decode to the same event", async () => {
    const { open } = setup({ [RUN]: many(1, 1) });
    const plain = (await open().next()).value as SubscribeEventsResponse;
    const raw = (await open({ binary: true }).next()).value as SubscribeEventsResponse;
    expect(raw.kind.case).toBeUndefined();
    expect(toBinary(SubscribeEventsResponseSchema, raw)).toEqual(toBinary(SubscribeEventsResponseSchema, plain));
    expect(fromBinary(SubscribeEventsResponseSchema, toBinary(SubscribeEventsResponseSchema, raw))).toEqual(plain);
  });
});
