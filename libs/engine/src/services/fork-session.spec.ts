import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { foldConversation, sessionDecider } from "@forge/domain";
import { ErrorCode } from "@forge/protocol/common";
import { ForkChildSessionSchema } from "@forge/protocol/engine";
import { type Event, EventSchema } from "@forge/protocol/event";
import { ForkSessionRequestSchema, Role } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import type { Store } from "../ports/index.ts";
import { readChildFork, readFork } from "./fork-session.ts";
import { conversationEvents } from "./session-history.ts";

type Payload = NonNullable<Exclude<MessageInitShape<typeof EventSchema>, { $typeName: string }>["payload"]>;

const message = (text: string): Payload => ({
  case: "messageAdded",
  value: { message: { role: Role.USER, parts: [{ kind: { case: "text", value: { text } } }] } },
});
const compacted = (throughSeq: number): Payload => ({ case: "sessionCompacted", value: { summary: "They spoke.", throughSeq: BigInt(throughSeq) } });

/** A session with a history, and the seqs that were read of it. */
function session(...payloads: Payload[]) {
  const all: Payload[] = [{ case: "sessionCreated", value: { title: "Talk", labels: { team: "x" } } }, ...payloads];
  const events: Event[] = all.map((payload, index) => create(EventSchema, { stream: { id: "s" }, seq: BigInt(index + 1), payload }));
  const reads: (readonly [number, number])[] = [];
  const store = {
    readEvents: async (_: string, __: string, { afterSeq, throughSeq = Infinity, limit }: { afterSeq: number; throughSeq?: number; limit: number }) => {
      reads.push([afterSeq, throughSeq]);
      const found = events.filter(({ seq }) => Number(seq) > afterSeq && Number(seq) <= throughSeq).slice(0, limit);
      return {
        events: found.map((event) => ({ seq: Number(event.seq), kind: "", bytes: toBinary(EventSchema, event) })),
        headSeq: events.length,
        prunedThroughSeq: 0,
      };
    },
  } as unknown as Store;
  let state = sessionDecider.initial();
  for (const event of events) state = sessionDecider.evolve(state, event);
  return { store, reads, source: { state, seq: events.length } };
}

const request = (init: MessageInitShape<typeof ForkSessionRequestSchema> = {}) => create(ForkSessionRequestSchema, init);

describe("what a sub-agent's session begins with", () => {
  const fork = create(ForkChildSessionSchema, {
    create: { title: "Talk / agent.a", queue: "q", agent: { model: "a/b" }, labels: { a: "b" }, parentCall: { sessionId: "s", depth: 1 } },
    throughSeq: 2n,
  });

  it("is its caller's conversation up to the call, and what the caller asks for", async () => {
    const { store, source } = session(message("one"), message("two"));
    const engine = { read: async () => source as never };
    const command = await readChildFork(store, engine, "default", "s", fork);
    expect(command).toMatchObject({
      $typeName: "session.fork_from",
      sourceSessionId: "s",
      throughSeq: 2,
      title: "Talk / agent.a",
      queue: "q",
      agent: { model: "a/b" },
      labels: { a: "b" },
      parentCall: { sessionId: "s", depth: 1 },
      messages: { length: 1 },
    });
  });

  it("is nothing of a session that there is not, and of one that is too large", async () => {
    const { store, source } = session(...Array.from({ length: 5_001 }, () => message("again")));
    await expect(readChildFork(store, { read: async () => undefined }, "default", "s", fork)).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
    const whole = create(ForkChildSessionSchema, { ...fork, throughSeq: 5_002n });
    await expect(readChildFork(store, { read: async () => source as never }, "default", "s", whole)).rejects.toMatchObject({ reason: "FORK_TOO_LARGE" });
  });
});

describe("what a fork begins with", () => {
  it("is the conversation up to its seq, with the source's title and labels where it has none of its own", async () => {
    const { store, source } = session(message("one"), message("two"));
    expect(await readFork(store, "default", source, request())).toMatchObject({ throughSeq: 3, title: "Talk", labels: { team: "x" }, messages: { length: 2 } });
    const own = await readFork(store, "default", source, request({ throughSeq: 2n, title: "Mine", labels: { a: "b" } }));
    expect(own).toMatchObject({ throughSeq: 2, title: "Mine", labels: { a: "b" }, messages: { length: 1 } });
  });

  it("is bounded, in messages and in bytes, until the source is compacted", async () => {
    const many = Array.from({ length: 5_001 }, () => message("again"));
    const large = Array.from({ length: 17 }, () => message("a".repeat(1_048_576)));
    for (const payloads of [many, large]) {
      const { store, source } = session(...payloads);
      await expect(readFork(store, "default", source, request())).rejects.toMatchObject({ reason: "FORK_TOO_LARGE" });
      const shortened = session(...payloads, compacted(payloads.length + 1));
      expect(await readFork(shortened.store, "default", shortened.source, request())).toMatchObject({ messages: { length: 1 } });
    }
  });

  it("is refused beyond the source's end", async () => {
    const { store, source } = session(message("one"));
    await expect(readFork(store, "default", source, request({ throughSeq: 3n }))).rejects.toMatchObject({ detail: { metadata: { field: "through_seq" } } });
  });
});

describe("the events of a conversation", () => {
  it("are not read from before the newest compaction's seq", async () => {
    const { store, reads, source } = session(message("one"), message("two"), compacted(2), message("three"));
    const { events, compactedSeq } = await conversationEvents(store, "default", source.state, { afterSeq: 0, throughSeq: 5 });
    expect(compactedSeq).toBe(4);
    expect(events.map(({ seq }) => Number(seq))).toEqual([3, 4, 5]);
    expect(reads).toEqual([[2, 5]]);
  });

  it("are the rest for a reader who has read a compaction, and all for one who has not, whichever it was", async () => {
    const { store, source } = session(message("one"), compacted(2), message("two"), compacted(3), message("three"));
    const seqs = async (afterSeq: number, throughSeq: number) => {
      const { events, compactedSeq } = await conversationEvents(store, "default", source.state, { afterSeq, throughSeq });
      return { seqs: events.map(({ seq }) => Number(seq)), compactedSeq };
    };
    expect(await seqs(5, 6)).toEqual({ seqs: [6], compactedSeq: 0 });
    expect(await seqs(4, 6)).toEqual({ seqs: [4, 5, 6], compactedSeq: 5 });
    expect(await seqs(2, 4)).toEqual({ seqs: [1, 2, 3, 4], compactedSeq: 3 });
    expect(await seqs(3, 4)).toEqual({ seqs: [4], compactedSeq: 0 });
  });

  it("are all for a reader who has read what a rewind left behind", async () => {
    const rewound: Payload = { case: "sessionRewound", value: { throughSeq: 2n } };
    const { store, source } = session(message("one"), message("two"), rewound, message("three"));
    const { events, compactedSeq } = await conversationEvents(store, "default", source.state, { afterSeq: 3, throughSeq: 5 });
    expect(compactedSeq).toBe(4);
    expect(foldConversation(events).flatMap(({ parts }) => parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : "")))).toEqual(["one", "three"]);
    expect((await conversationEvents(store, "default", source.state, { afterSeq: 4, throughSeq: 5 })).compactedSeq).toBe(0);
  });
});
