import { once } from "node:events";
import net from "node:net";
import { create } from "@bufbuild/protobuf";
import { type ClientOptions, type ConnectClient, createClient, type Followed, followEvents, type TransportName, withRetry } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { GetArtifactResponseSchema } from "@forge/protocol/artifact";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { CreateSessionResponseSchema } from "@forge/protocol/session";
import { CLIENT_TOKEN, type Overrides, type Served, serve as serveFakes, WORKER_TOKEN } from "@forge/rpc/testing";
import { afterEach, describe, expect, it } from "vitest";

const TRANSPORTS: readonly TransportName[] = ["connect", "connect-json", "connect-http1", "connect-http1-json", "grpc", "grpc-web", "grpc-js"];
/** Long enough for any answer here; whoever waits longer hangs. */
const PATIENCE_MS = 20_000;
const MEGABYTE = 1024 * 1024;

const cleanup: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

async function serve(overrides: Overrides, port = 0): Promise<Served> {
  const served = await serveFakes(overrides, { port });
  cleanup.push(() => served.close());
  return served;
}

function connect(options: Omit<ClientOptions, "token"> & { readonly token?: string }): ConnectClient {
  const client = createClient({ token: CLIENT_TOKEN, ...options });
  cleanup.push(() => client.close());
  return client;
}

function eventAt(seq: number) {
  return create(SubscribeEventsResponseSchema, {
    kind: { case: "event", value: { seq: BigInt(seq), kind: "message.added", stream: { kind: StreamKind.SESSION, id: "session" } } },
  });
}

async function collect<T>(messages: AsyncIterable<T>, into: T[] = []): Promise<T[]> {
  for await (const message of messages) into.push(message);
  return into;
}

/** Calls that nobody answers, and a promise for the moment when one of them has been given up. */
function unanswered() {
  const arrived = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const wait = async (signal: AbortSignal): Promise<never> => {
    arrived.resolve();
    if (!signal.aborted) await once(signal, "abort");
    ended.resolve();
    throw signal.reason as Error;
  };
  const overrides: Overrides = {
    session: { listSessions: (_, { signal }) => wait(signal) },
    event: {
      subscribeEvents: async function* (_, { signal }) {
        yield eventAt(1);
        await wait(signal);
      },
    },
  };
  return { overrides, arrived: arrived.promise, ended: ended.promise };
}

describe.each(TRANSPORTS)("a client over %s", (transport) => {
  it("carries requests and answers whole, and says who calls", async () => {
    const answer = create(CreateSessionResponseSchema, { sessionId: "größer 🙂", seq: 2n ** 63n });
    const { url, received } = await serve({ session: { createSession: async () => answer } });
    const request = { header: { commandId: "one", expectedSeq: 0n }, title: "größer \0 🙂\u2028", labels: { a: "" } };
    expect(await connect({ url, transport }).session.createSession(request)).toEqual(answer);
    await connect({ url, transport, namespace: "other" }).session.listSessions({});
    await connect({ url, transport, token: WORKER_TOKEN }).worker.heartbeat({});
    expect(received).toMatchObject([
      { method: "session.createSession", request, call: { namespace: "default", principal: "tester" } },
      { method: "session.listSessions", call: { namespace: "other", principal: "tester" } },
      { method: "worker.heartbeat", call: { namespace: "default", principal: "worker:tester" } },
    ]);
    const stranger = connect({ url, transport, token: "forge_nobody_0123456789" });
    await expect(stranger.session.listSessions({})).rejects.toMatchObject({ code: ErrorCode.UNAUTHENTICATED, detail: { retryable: false } });
    await expect(collect(stranger.event.subscribeEvents({}))).rejects.toMatchObject({ code: ErrorCode.UNAUTHENTICATED });
  });

  it("throws a service's error as it was, before and amid a stream", async () => {
    const error = new ForgeError(ErrorCode.CONFLICT, "seq is 7, not 5: größer\nthan that", {
      reason: "SEQ_MISMATCH",
      retryable: true,
      origin: "control-plane",
      relatedIds: ["one", "two"],
      metadata: { current_seq: "7" },
      retryAfter: { $typeName: "google.protobuf.Duration", seconds: 3n, nanos: 5 },
    });
    const { url } = await serve({
      session: { startTurn: () => Promise.reject(error) },
      event: {
        subscribeEvents: async function* ({ noFollow }) {
          if (!noFollow) for (let seq = 1; seq <= 40; seq++) yield eventAt(seq);
          throw error;
        },
      },
    });
    const client = connect({ url, transport });
    await expect(client.session.startTurn({})).rejects.toEqual(error);
    await expect(collect(client.event.subscribeEvents({ noFollow: true }))).rejects.toEqual(error);
    const seen: unknown[] = [];
    await expect(collect(client.event.subscribeEvents({}), seen)).rejects.toEqual(error);
    expect(seen).toHaveLength(40);
  });

  it("streams thousands of events in order", async () => {
    const { url } = await serve({
      event: {
        subscribeEvents: async function* () {
          for (let seq = 1; seq <= 5_000; seq++) yield eventAt(seq);
        },
      },
    });
    const seen = await collect(connect({ url, transport }).event.subscribeEvents({}));
    expect(seen.map(({ kind }) => (kind.case === "event" ? Number(kind.value.seq) : 0))).toEqual(Array.from({ length: 5_000 }, (_, index) => index + 1));
  });

  it("gives a call up when its signal aborts, and the server learns it", async () => {
    const { overrides, arrived, ended } = unanswered();
    const { url } = await serve(overrides);
    const client = connect({ url, transport });
    const stop = new AbortController();
    const call = client.session.listSessions({}, { signal: stop.signal });
    await arrived;
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    await ended;
    await expect(client.session.listSessions({}, { signal: stop.signal })).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
  });

  it("ends a stream when its signal aborts, and when its reader leaves", async () => {
    for (const leaves of [false, true]) {
      const { overrides, arrived, ended } = unanswered();
      const { url } = await serve(overrides);
      const stop = new AbortController();
      const stream = connect({ url, transport }).event.subscribeEvents({}, { signal: stop.signal })[Symbol.asyncIterator]();
      expect((await stream.next()).value).toEqual(eventAt(1));
      await arrived;
      if (leaves) await stream.return?.();
      else {
        const next = stream.next();
        stop.abort();
        await expect(next).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
      }
      await ended;
    }
  });

  it("ends calls at their deadline, on both sides, a stream as well", async () => {
    const { overrides, arrived, ended } = unanswered();
    const { url, bugs } = await serve(overrides);
    const client = connect({ url, transport });
    let hasArrived = false;
    void arrived.then(() => {
      hasArrived = true;
    });
    // One that is over before it has a connection never gets there, and nobody there is told of its end.
    for (let timeoutMs = 50; !hasArrived; timeoutMs *= 2) {
      await expect(client.session.listSessions({}, { timeoutMs })).rejects.toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED });
    }
    await ended;
    const seen: unknown[] = [];
    await expect(collect(client.event.subscribeEvents({}, { timeoutMs: 300 }), seen)).rejects.toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED });
    expect(seen).toHaveLength(1);
    expect(bugs).toEqual([]);
  });

  it("carries large artifacts both ways, and refuses what is too large without harm to others", async () => {
    // Base64 of more takes the library seconds.
    const content = new Uint8Array((transport.includes("json") ? 1 : 16) * MEGABYTE).fill(7);
    const { url, received } = await serve({
      artifact: {
        getArtifact: async function* () {
          yield create(GetArtifactResponseSchema, { content });
        },
      },
    });
    const client = connect({ url, transport });
    await client.artifact.putArtifact({ content });
    const pieces = await collect(client.artifact.getArtifact({}));
    expect(pieces.map((piece) => piece.content.length)).toEqual([content.length]);
    const tooLarge = client.session.createSession({ title: "x".repeat(23 * MEGABYTE) });
    const [refusal] = await Promise.all([tooLarge.catch((error: unknown) => error), client.session.listSessions({})]);
    expect(refusal).toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED, detail: { retryable: false } });
    expect(received.map(({ method }) => method)).toEqual(["artifact.putArtifact", "artifact.getArtifact", "session.listSessions"]);
  });

  it("is told what is wrong with a request that can't be encoded, at once and for good", async () => {
    const { url } = await serve({});
    const call = connect({ url, transport }).session.listSessions({ pageSize: -1 });
    await expect(call).rejects.toMatchObject({ code: ErrorCode.VALIDATION, message: expect.stringContaining("-1"), detail: { retryable: false } });
  });

  it("that is closed ends its open calls, and refuses new ones", async () => {
    const { overrides, arrived, ended } = unanswered();
    const { url } = await serve(overrides);
    const client = connect({ url, transport });
    const call = client.session.listSessions({});
    await arrived;
    await Promise.all([expect(call).rejects.toMatchObject({ code: ErrorCode.CANCELLED }), client.close()]);
    await ended;
    await expect(client.session.listSessions({})).rejects.toMatchObject({ code: ErrorCode.CANCELLED, message: "this client is closed" });
  });

  it("whose server goes away is told that nobody knows what became of its call, and finds the next server by itself", async () => {
    const { overrides, arrived } = unanswered();
    const served = await serve(overrides);
    const client = connect({ url: served.url, transport });
    const call = client.session.listSessions({});
    await arrived;
    const lost = { code: ErrorCode.STORAGE_ERROR, reason: "TRANSPORT", detail: { retryable: true } };
    await Promise.all([expect(call).rejects.toMatchObject(lost), served.close()]);
    await expect(client.session.listSessions({})).rejects.toMatchObject(lost);
    const again = withRetry(() => client.session.listSessions({}), { patienceMs: PATIENCE_MS });
    const successor = await serve({}, served.port);
    await again;
    expect(successor.received).toHaveLength(1);
  });

  it("follows on with the next server, from where it was, each event once", async () => {
    const asked: number[] = [];
    const subscribeEvents: NonNullable<Overrides["event"]>["subscribeEvents"] = async function* ({ streams }, { signal }) {
      const after = Number(streams[0]?.afterSeq);
      asked.push(after);
      yield eventAt(after + 1);
      yield eventAt(after + 2);
      if (!signal.aborted) await once(signal, "abort");
    };
    const served = await serve({ event: { subscribeEvents } });
    const stop = new AbortController();
    const lost: ForgeError[] = [];
    const events = followEvents(connect({ url: served.url, transport }), {
      streams: [{ stream: { kind: StreamKind.SESSION, id: "session" } }],
      signal: stop.signal,
      onReconnect: (error) => lost.push(error),
    });
    const next = async (): Promise<number | undefined> => {
      const { value } = (await events.next()) as { value: Followed | undefined };
      return value?.kind === "event" ? Number(value.event.seq) : undefined;
    };
    expect([await next(), await next()]).toEqual([1, 2]);
    const following = next();
    await served.close();
    await serve({ event: { subscribeEvents } }, served.port);
    expect([await following, await next()]).toEqual([3, 4]);
    expect(asked).toEqual([0, 2]);
    expect(lost.length).toBeGreaterThan(0);
    const end = next();
    stop.abort();
    expect(await end).toBeUndefined();
  });

  it.each([
    ["says nothing", undefined, ErrorCode.DEADLINE_EXCEEDED],
    ["hangs up", "", ErrorCode.STORAGE_ERROR],
    ["answers with rubbish", "\x16\x03\x01\x02 no protocol at all", ErrorCode.STORAGE_ERROR],
  ])("gets a typed error from a server that %s", async (_, answer, code) => {
    const sockets = new Set<net.Socket>();
    const server = net.createServer((socket) => {
      sockets.add(socket);
      // Who hung up is gone, which is what happens here.
      socket.on("error", () => undefined);
      if (answer !== undefined) socket.once("data", () => socket.end(answer));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanup.push(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
    const client = connect({ url, transport });
    await expect(client.session.listSessions({}, { timeoutMs: code === ErrorCode.DEADLINE_EXCEEDED ? 200 : PATIENCE_MS })).rejects.toMatchObject({
      name: "ForgeError",
      code,
    });
  });
});
