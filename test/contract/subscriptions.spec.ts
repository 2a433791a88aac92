import { toJson } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { type ConnectClient, commandHeader, createLocalClient } from "@forge/client";
import { createControlPlane } from "@forge/engine";
import { type Event, EventSchema, EventService, type SubscribeEventsResponse } from "@forge/protocol/event";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, NAMESPACE, startCluster } from "../harness/cluster.ts";
import { refusalOf } from "../harness/refusal.ts";
import {
  createSession,
  eventsUntil,
  kindsOf,
  runEnded,
  runStream,
  sessionStream,
  startRun,
  startTurn,
  threeSteps,
  turnEnded,
  until,
  useTool,
} from "../harness/work.ts";

let cluster: Cluster;
let client: ConnectClient;
/** A turn with a tool whose output streams, and its events. */
let sessionId: string;
let reference: readonly Event[];
/** A run with an agent step, and the session of that step. */
let runId: string;
beforeAll(async () => {
  cluster = await startCluster();
  client = cluster.client;
  sessionId = await createSession(client);
  reference = await turnEnded(client, sessionId, await startTurn(client, sessionId, useTool("test.append", { pieces: 3 })));
  runId = await startRun(client, threeSteps());
  await runEnded(client, runId);
});
afterAll(() => cluster?.close());

type Cursors = ReadonlyMap<string, { readonly stream: ReturnType<typeof sessionStream> | ReturnType<typeof runStream>; readonly afterSeq: bigint }>;

interface Read {
  readonly events: readonly Event[];
  readonly caughtUp: number;
}

/** Reads through what is durable, or through so many events. */
async function read(streams: Cursors, options: { readonly followChildren?: boolean; readonly most?: number } = {}): Promise<Read> {
  const abort = new AbortController();
  const events: Event[] = [];
  let caughtUp = 0;
  const request = { streams: [...streams.values()], noFollow: true, followChildren: options.followChildren ?? false };
  for await (const { kind } of client.event.subscribeEvents(request, { signal: abort.signal })) {
    if (events.length === options.most) break;
    if (kind.case === "event") events.push(kind.value);
    else if (kind.case === "caughtUp") caughtUp++;
  }
  abort.abort();
  return { events, caughtUp };
}

function cursor(stream: ReturnType<typeof sessionStream> | ReturnType<typeof runStream>, afterSeq: number): Cursors {
  return new Map([[stream.id, { stream, afterSeq: BigInt(afterSeq) }]]);
}

function names(events: readonly Event[]): readonly string[] {
  return events.map((event) => `${event.stream?.id} ${event.seq} ${event.kind}`);
}

describe("a subscriber that comes back", () => {
  it("after any event of a turn gets exactly the rest, and is told once that it has caught up", async () => {
    expect(kindsOf(reference)).toEqual(expect.arrayContaining(["turn.output_delta", "tool.output_delta", "tool.completed"]));
    for (let index = 0; index <= reference.length; index++) {
      const { events, caughtUp } = await read(cursor(sessionStream(sessionId), index));
      expect(names(events)).toStrictEqual(names(reference.slice(index)));
      expect(caughtUp).toBe(1);
    }
  });

  it("after every single event of a turn that is under way misses nothing and sees nothing twice", async () => {
    const live = await createSession(client);
    const turnId = await startTurn(client, live, useTool("test.append", { pieces: 5 }));
    const seen: Event[] = [];
    while (!seen.some((event) => event.turnId === turnId && event.kind === "turn.completed")) {
      const abort = new AbortController();
      for await (const { kind } of client.event.subscribeEvents(
        { streams: [{ stream: sessionStream(live), afterSeq: seen.at(-1)?.seq ?? 0n }] },
        { signal: abort.signal },
      )) {
        if (kind.case !== "event") continue;
        seen.push(kind.value);
        break;
      }
      abort.abort();
    }
    expect(names(seen)).toStrictEqual(names((await read(cursor(sessionStream(live), 0))).events));
  });

  it("after any event of a run and its agent's session gets exactly the rest of both", async () => {
    const whole = (await read(cursor(runStream(runId), 0), { followChildren: true })).events;
    const child = whole.find((event) => event.stream?.id !== runId)?.stream?.id;
    expect(child).toBeDefined();
    for (let index = 0; index <= whole.length; index++) {
      const first = (await read(cursor(runStream(runId), 0), { followChildren: true, most: index })).events;
      const resumed = new Map(cursor(runStream(runId), 0));
      for (const event of first) {
        const stream = event.stream?.id === runId ? runStream(runId) : sessionStream(event.stream?.id ?? "");
        resumed.set(stream.id, { stream, afterSeq: event.seq });
      }
      const rest = (await read(resumed, { followChildren: true })).events;
      expect(names([...first, ...rest]).toSorted(), `dropped after ${index} events`).toStrictEqual(names(whole).toSorted());
    }
  });

  it("with a cursor beyond the head is told so, with the head", async () => {
    const ahead = read(cursor(sessionStream(sessionId), reference.length + 1));
    await expect(ahead).rejects.toMatchObject({ detail: { reason: "CURSOR_AHEAD", metadata: { current_seq: String(reference.length) } } });
  });

  it("to a stream that does not exist is told so", async () => {
    expect(await refusalOf(read(cursor(sessionStream("00000000-0000-8000-8000-000000000000"), 0)))).toBe("NOT_FOUND");
  });
});

describe("a filter", () => {
  it("leaves out kinds, and the positions cover what it left out", async () => {
    const responses: SubscribeEventsResponse[] = [];
    const filter = { excludeKinds: ["turn.output_delta", "tool.output_delta"] };
    for await (const response of client.event.subscribeEvents({ streams: [{ stream: sessionStream(sessionId) }], filter, noFollow: true }))
      responses.push(response);
    const events = responses.flatMap(({ kind }) => (kind.case === "event" ? [kind.value] : []));
    expect(names(events)).toStrictEqual(names(reference.filter((event) => !event.kind.endsWith(".output_delta"))));
    const end = responses.at(-1)?.kind;
    expect(end?.case === "caughtUp" ? end.value.positions.map(({ seq }) => Number(seq)) : []).toStrictEqual([reference.length]);
  });

  it("that lets nothing pass still tells how far the stream has come, while it is followed", async () => {
    const live = await createSession(client);
    const abort = new AbortController();
    const positions: number[] = [];
    const filter = { excludeKinds: ["turn.output_delta", "tool.output_delta"] };
    const following = (async () => {
      for await (const { kind } of client.event.subscribeEvents({ streams: [{ stream: sessionStream(live) }], filter }, { signal: abort.signal })) {
        if (kind.case === "position") positions.push(Number(kind.value.seq));
      }
    })().catch(() => undefined);
    const turnId = await startTurn(client, live, "count to 8");
    const deltas = (await turnEnded(client, live, turnId)).filter((event) => event.kind === "turn.output_delta").map((event) => Number(event.seq));
    await until(
      "the position of the last delta is told",
      () => (positions.at(-1) ?? 0) >= (deltas.at(-1) as number) || positions.some((seq) => seq >= (deltas[0] as number)),
    );
    abort.abort();
    await following;
    expect(positions).toStrictEqual(positions.toSorted((a, b) => a - b));
  });
});

describe("a subscriber that can't keep up", () => {
  it("is ended alone, with its last seq; the writer and the others go on", async () => {
    const limit = 20;
    const problems: unknown[] = [];
    const engine = await createControlPlane({ store: cluster.store, dispatches: false, subscriberItemsMax: limit, onProblem: (error) => problems.push(error) });
    const local = createLocalClient(engine, { namespace: NAMESPACE, principal: "tester" });
    try {
      const live = await createSession(client);
      const request = { streams: [{ stream: sessionStream(live) }] };
      const abort = new AbortController();
      const slow = local.event.subscribeEvents(request, { signal: abort.signal })[Symbol.asyncIterator]();
      // It reads what is there, and then stands still.
      let last = await slow.next();
      while (last.value.kind.case !== "caughtUp") last = await slow.next();
      const quick: Event[] = [];
      const following = (async () => {
        for await (const { kind } of local.event.subscribeEvents(request, { signal: abort.signal })) if (kind.case === "event") quick.push(kind.value);
      })();
      const sent = limit + 10;
      for (let index = 0; index < sent; index++) {
        // Commands through this engine reach its subscribers directly; each turn is stopped before anybody could take it up.
        const { turnId } = await local.session.startTurn({
          header: commandHeader(),
          sessionId: live,
          input: [{ kind: { case: "text", value: { text: "hello" } } }],
        });
        await local.session.abandonTurn({ header: commandHeader(), sessionId: live, turnId, reason: "test" });
      }
      await until("the quick subscriber has everything", () => quick.filter((event) => event.kind === "turn.abandoned").length === sent);
      const ended = (async () => {
        for (;;) if ((await slow.next()).done === true) return;
      })();
      await expect(ended).rejects.toMatchObject({ detail: { reason: "SLOW_SUBSCRIBER" } });
      abort.abort();
      await following.catch(() => undefined);
      expect(problems).toStrictEqual([]);
    } finally {
      await local.close();
      await engine.close();
    }
  });
});

describe("a command that expects a seq", () => {
  it("is accepted while output streams, and refused after anything else", async () => {
    const live = await createSession(client);
    const turnId = await startTurn(client, live, "count to 500");
    const events = await eventsUntil(client, sessionStream(live), (event) => event.kind === "turn.output_delta");
    const before = events.findLast((event) => event.kind !== "turn.output_delta")?.seq as bigint;
    const cancel = (expectedSeq: bigint) => client.session.cancelTurn({ header: commandHeader(undefined, { expectedSeq }), sessionId: live, turnId });
    expect(await refusalOf(cancel(before - 1n))).toBe("CONFLICT SEQ_MISMATCH");
    // More output has come by now than this client has seen.
    await eventsUntil(client, sessionStream(live), (event) => event.seq > (events.at(-1)?.seq as bigint) + 1n);
    await cancel(events.at(-1)?.seq as bigint);
    await turnEnded(client, live, turnId);
    expect(await cluster.inspector.violations({ id: live, kind: "session" }, true)).toStrictEqual([]);
  });
});

describe("the wire", () => {
  it("carries the same events in binary, in JSON and as they are stored", async () => {
    const transport = createConnectTransport({
      baseUrl: cluster.urls[0] as string,
      httpVersion: "1.1",
      useBinaryFormat: false,
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${cluster.clientToken}`);
          return next(request);
        },
      ],
    });
    const inJson: Event[] = [];
    for await (const { kind } of createClient(EventService, transport).subscribeEvents({ streams: [{ stream: sessionStream(sessionId) }], noFollow: true })) {
      if (kind.case === "event") inJson.push(kind.value);
    }
    const shown = (events: readonly Event[]) => events.map((event) => toJson(EventSchema, event));
    expect(shown(inJson)).toStrictEqual(shown(reference));
    expect(shown(await cluster.inspector.events(sessionId))).toStrictEqual(shown(reference.filter((event) => !event.kind.endsWith(".output_delta"))));
  });
});
