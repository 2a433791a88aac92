import { randomUUID } from "node:crypto";
import { commandHeader } from "@forge/client";
import { ErrorCode } from "@forge/protocol/common";
import { type Event, EventService, type SubscribeEventsResponse } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { expect } from "vitest";
import { freePorts } from "../../../harness/cluster.ts";
import { startProxy } from "../../../harness/proxy.ts";
import { say, sessionStream } from "../../../harness/work.ts";
import type { SuiteClient, SuiteStream } from "../client.ts";
import type { Scenario } from "../scenario.ts";
import { ModelOutput } from "../steps/model-output.ts";
import { accepted, refusalIn, refused } from "../steps/outcomes.ts";
import { quietSession, quietTurn } from "../steps/sessions.ts";
import { eventsOf, wholeOf } from "../steps/streams.ts";

const { subscribeEvents } = EventService.method;
const { createSession, getSessionSnapshot, steerTurn } = SessionService.method;

const EVENTS = 1_000;
const DROPPED_AFTER = [1, 400, 999];
/** More than the servers keep for one subscriber, and than most clients do. */
const SLOW_PIECES = 80;
const SLOW_PIECES_AT_A_TIME = 5;
const SLOW_CHARACTERS = 60_000;
const NO_DELTAS = { excludeKinds: ["turn.output_delta"] };

const name = ({ seq, kind, eventId }: Event) => `${seq} ${kind} ${eventId}`;

function replay(client: SuiteClient, sessionId: string, afterSeq = 0n): SuiteStream<SubscribeEventsResponse> {
  return client.open(subscribeEvents, { streams: [{ stream: sessionStream(sessionId), afterSeq }], noFollow: true });
}

function follow(client: SuiteClient, sessionId: string, options: { readonly resume?: boolean; readonly ahead?: number } = {}) {
  return client.open(subscribeEvents, { streams: [{ stream: sessionStream(sessionId) }] }, options);
}

/** Reads on until a message satisfies, which is the last of the answer. Errors: the stream's end. */
async function readUntil(stream: SuiteStream<SubscribeEventsResponse>, isLast: (kind: SubscribeEventsResponse["kind"]) => boolean) {
  const messages: SubscribeEventsResponse[] = [];
  for (;;) {
    const { message, ...end } = await stream.next();
    if (message === undefined) throw new Error(`the stream ended after ${messages.length} messages (${JSON.stringify(end)})`);
    messages.push(message);
    if (isLast(message.kind)) return messages;
  }
}

const isCaughtUp = (kind: SubscribeEventsResponse["kind"]) => kind.case === "caughtUp";

function isEvent(seq: bigint) {
  return (kind: SubscribeEventsResponse["kind"]) => kind.case === "event" && kind.value.seq >= seq;
}

async function headOf(client: SuiteClient, sessionId: string): Promise<bigint> {
  return (await accepted(client.call(getSessionSnapshot, { sessionId }))).session?.seq ?? 0n;
}

export const SCENARIOS: readonly Scenario[] = [
  {
    group: "Subscriptions",
    name: "a stream of 1,000 events that is dropped after 1, 400 and 999 of them goes on with exactly the rest, in order",
    methods: [subscribeEvents, getSessionSnapshot],
    run: async (world) => {
      const client = await world.open();
      const output = await ModelOutput.begin(world);
      const { sessionId } = output;
      await output.write(EVENTS - Number(await headOf(client, sessionId)));
      const { messages, error } = await wholeOf(replay(client, sessionId));
      expect(error).toBeUndefined();
      const whole = eventsOf(messages);
      expect(whole.map(({ seq }) => Number(seq))).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1));
      for (const dropped of DROPPED_AFTER) {
        const stream = replay(client, sessionId);
        const first = eventsOf(await readUntil(stream, isEvent(BigInt(dropped))));
        stream.cancel();
        const rest = await wholeOf(replay(client, sessionId, first.at(-1)?.seq));
        expect([...first, ...eventsOf(rest.messages)].map(name)).toEqual(whole.map(name));
      }
    },
  },
  {
    group: "Subscriptions",
    name: "after 0 all events come, after the head none, and a cursor beyond the head is a conflict that tells the head",
    methods: [subscribeEvents],
    run: async (world) => {
      const client = await world.open();
      const { sessionId } = await quietTurn(world);
      const { messages } = await wholeOf(replay(client, sessionId, 0n));
      const seqs = eventsOf(messages).map(({ seq }) => seq);
      const head = BigInt(seqs.length);
      expect(seqs).toEqual(seqs.map((_, index) => BigInt(index + 1)));
      const after = await wholeOf(replay(client, sessionId, head));
      expect(after.messages.map(({ kind }) => kind.case)).toEqual(["caughtUp"]);
      const { error } = await wholeOf(replay(client, sessionId, head + 1n));
      expect(error).toMatchObject({ code: ErrorCode.CONFLICT, reason: "CURSOR_AHEAD", detail: { metadata: { current_seq: String(head) } } });
      expect((await wholeOf(replay(client, randomUUID()))).error?.code).toBe(ErrorCode.NOT_FOUND);
    },
  },
  {
    group: "Subscriptions",
    name: "a filter that leaves out deltas still advances the position",
    methods: [subscribeEvents, getSessionSnapshot],
    run: async (world) => {
      const client = await world.open();
      const output = await ModelOutput.begin(world);
      const { sessionId } = output;
      const facts = await headOf(client, sessionId);
      await output.write(5);
      const filtered = { streams: [{ stream: sessionStream(sessionId) }], filter: NO_DELTAS };
      const stream = client.open(subscribeEvents, filtered);
      const past = await readUntil(stream, isCaughtUp);
      expect(eventsOf(past).map(({ seq }) => seq)).toEqual(Array.from({ length: Number(facts) }, (_, index) => BigInt(index + 1)));
      const told = past.at(-1)?.kind;
      expect(told?.case === "caughtUp" ? told.value.positions.map(({ seq }) => seq) : []).toEqual([facts + 5n]);
      await output.write(5);
      const live = await readUntil(stream, (kind) => kind.case === "position" && kind.value.seq === facts + 10n);
      expect(eventsOf(live)).toEqual([]);
      stream.cancel();
      const rest = await wholeOf(client.open(subscribeEvents, { streams: [{ stream: sessionStream(sessionId), afterSeq: facts + 10n }], noFollow: true }));
      expect(eventsOf(rest.messages)).toEqual([]);
    },
  },
  {
    group: "Subscriptions",
    name: "a filter's kind that is no kind is refused, and so is a subscription to nothing",
    methods: [subscribeEvents],
    run: async (world) => {
      const client = await world.open();
      const sessionId = await quietSession(world);
      const streams = [{ stream: sessionStream(sessionId) }];
      const ends = [
        wholeOf(client.open(subscribeEvents, { streams, filter: { excludeKinds: ["Not A Kind"] } })),
        wholeOf(client.open(subscribeEvents, { streams: [] })),
      ];
      for (const { error } of await Promise.all(ends)) expect(error?.code).toBe(ErrorCode.VALIDATION);
    },
  },
  {
    group: "Subscriptions",
    name: "caught_up comes exactly once, and what happens afterwards follows in order",
    methods: [subscribeEvents, steerTurn],
    run: async (world) => {
      const client = await world.open();
      const turn = await quietTurn(world);
      const stream = follow(client, turn.sessionId);
      const messages = await readUntil(stream, isCaughtUp);
      let seq = 0n;
      for (const text of ["one", "two", "three"]) {
        ({ seq } = await accepted(client.call(steerTurn, { header: commandHeader(), ...turn, input: [say(text)] })));
        messages.push(...(await readUntil(stream, isEvent(seq))));
      }
      expect(messages.filter(({ kind }) => isCaughtUp(kind))).toHaveLength(1);
      expect(eventsOf(messages).map((event) => event.seq)).toEqual(Array.from({ length: Number(seq) }, (_, index) => BigInt(index + 1)));
      stream.cancel();
    },
  },
  {
    group: "Subscriptions",
    name: "a subscription that is given up ends, and one with a deadline ends at it",
    methods: [subscribeEvents],
    run: async (world) => {
      const client = await world.open();
      const sessionId = await quietSession(world);
      const stream = follow(client, sessionId);
      await readUntil(stream, isCaughtUp);
      stream.cancel();
      expect((await wholeOf(stream)).error?.code).toBe(ErrorCode.CANCELLED);
      const late = client.open(subscribeEvents, { streams: [{ stream: sessionStream(sessionId) }] }, { timeoutMs: 500 });
      expect((await wholeOf(late)).error?.code).toBe(ErrorCode.DEADLINE_EXCEEDED);
    },
  },
  {
    group: "Subscriptions",
    name: "a slow reader holds nobody up, and misses nothing, also where it was ended and has resumed",
    methods: [subscribeEvents, getSessionSnapshot],
    run: async (world) => {
      const client = await world.open();
      const output = await ModelOutput.begin(world);
      const { sessionId } = output;
      const slow = follow(client, sessionId, { ahead: 0 });
      const quick = follow(client, sessionId);
      const [slowFirst, quickFirst] = await Promise.all([readUntil(slow, isCaughtUp), readUntil(quick, isCaughtUp)]);
      // Who reads has all of it, though the other one stands still.
      const quickMessages = [...quickFirst];
      for (let written = 0; written < SLOW_PIECES; written += SLOW_PIECES_AT_A_TIME) {
        await output.write(SLOW_PIECES_AT_A_TIME, SLOW_CHARACTERS);
        quickMessages.push(...(await readUntil(quick, isEvent(await headOf(client, sessionId)))));
      }
      quick.cancel();
      const quickEvents = eventsOf(quickMessages);
      // It may have to be ended, alone; where its own side has room for what waits, or the server reads it once more, it gets all of it.
      const slowMessages = [...slowFirst];
      const isWhole = isEvent(quickEvents.at(-1)?.seq ?? 0n);
      let end = await slow.next();
      for (; end.message !== undefined && !isWhole(end.message.kind); end = await slow.next()) slowMessages.push(end.message);
      if (end.message !== undefined) slowMessages.push(end.message);
      else expect(end.error).toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED, reason: "SLOW_SUBSCRIBER" });
      slow.cancel();
      const seen = eventsOf(slowMessages);
      const rest = await wholeOf(replay(client, sessionId, seen.at(-1)?.seq));
      expect([...seen, ...eventsOf(rest.messages)].map(name)).toEqual(quickEvents.map(name));
    },
  },
  {
    group: "A client by itself",
    name: "a client's own subscription goes on over cut connections, and has each event once",
    methods: [subscribeEvents, steerTurn],
    bringsServer: true,
    run: async (world) => {
      const proxy = await startProxy(world.urls[0] as string);
      world.defer(() => proxy.close());
      const client = await world.open({ url: proxy.url });
      const turn = await quietTurn(world);
      const { session } = world.reference;
      const stream = follow(client, turn.sessionId, { resume: true });
      const messages = await readUntil(stream, isCaughtUp);
      let seq = 0n;
      for (const text of ["one", "two", "three"]) {
        proxy.cut();
        ({ seq } = await session.steerTurn({ header: commandHeader(), ...turn, input: [say(text)] }));
        messages.push(...(await readUntil(stream, isEvent(seq))));
      }
      stream.cancel();
      expect(messages.filter(({ kind }) => isCaughtUp(kind))).toHaveLength(1);
      expect(eventsOf(messages).map((event) => event.seq)).toEqual(Array.from({ length: Number(seq) }, (_, index) => BigInt(index + 1)));
    },
  },
  {
    group: "A client by itself",
    name: "a client's own retry gets a command to a server that was away, once",
    methods: [createSession, getSessionSnapshot],
    bringsServer: true,
    breaksServer: true,
    run: async (world) => {
      const [port] = (await freePorts(1)) as [number];
      const client = await world.open({ url: `http://127.0.0.1:${port}` });
      const away = await refused(client.call(getSessionSnapshot, { sessionId: randomUUID() }));
      expect(away.detail).toMatchObject({ code: ErrorCode.STORAGE_ERROR, retryable: true });
      const header = commandHeader();
      const request = { header, agent: { model: "demo/echo" } };
      const creating = client.call(createSession, request, { retry: true });
      const proxy = await startProxy(world.urls[0] as string, port);
      world.defer(() => proxy.close());
      const { sessionId } = await accepted(creating);
      expect((await accepted(client.call(createSession, request))).sessionId).toBe(sessionId);
      expect(await refusalIn(client.call(createSession, { ...request, title: "Another" }))).toBe("CONFLICT COMMAND_ID_REUSED");
    },
  },
];
