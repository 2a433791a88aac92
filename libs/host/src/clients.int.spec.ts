import { once } from "node:events";
import { create } from "@bufbuild/protobuf";
import { type ConnectClient, createConnectClient, createLocalClient, type Followed, followEvents } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { CreateSessionResponseSchema } from "@forge/protocol/session";
import { CLIENT_TOKEN, fakeApis, type Overrides, type Served, serve } from "@forge/rpc/testing";
import { afterEach, describe, expect, it, vi } from "vitest";

const cleanup: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

interface Connected {
  readonly client: ConnectClient;
  readonly received: Served["received"];
}

async function overWire(overrides: Overrides): Promise<Connected & { readonly served: Served }> {
  const served = await serve(overrides);
  const client = createConnectClient({ url: served.url, token: CLIENT_TOKEN });
  cleanup.push(
    () => served.close(),
    () => client.close(),
  );
  return { client, served, received: served.received };
}

async function inProcess(overrides: Overrides): Promise<Connected> {
  const { apis, received } = fakeApis(overrides);
  const client = createLocalClient(apis, { namespace: "default", principal: "tester" });
  cleanup.push(() => client.close());
  return { client, received };
}

/** Waits until a check holds; a busy machine may take its time. */
async function until(check: () => void): Promise<void> {
  await vi.waitFor(check, 10_000);
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

describe.each([
  ["over a wire", overWire],
  ["in process", inProcess],
])("a client %s", (_name, connect) => {
  it("carries requests and answers whole", async () => {
    const { client, received } = await connect({
      session: { createSession: async () => create(CreateSessionResponseSchema, { sessionId: "made", seq: 2n ** 63n }) },
    });
    const request = { header: { commandId: "one", expectedSeq: 0n }, title: "größer \0 🙂", labels: { a: "" } };
    expect(await client.session.createSession(request)).toEqual(create(CreateSessionResponseSchema, { sessionId: "made", seq: 2n ** 63n }));
    expect(received).toMatchObject([{ method: "session.createSession", request, call: { namespace: "default", principal: "tester" } }]);
  });

  it.each(Object.entries(ErrorCode).filter(([name]) => name !== "UNSPECIFIED" && name !== "INTERNAL"))(
    "throws a service's error as it was, %s",
    async (_code, code) => {
      const error = new ForgeError(code, "what happened", {
        reason: "SOME_REASON",
        retryable: code % 2 === 0,
        origin: "control-plane",
        relatedIds: ["one", "two"],
        metadata: { current_seq: "7" },
        retryAfter: { $typeName: "google.protobuf.Duration", seconds: 3n, nanos: 0 },
      });
      const { client } = await connect({
        session: { startTurn: () => Promise.reject(error) },
        event: {
          subscribeEvents: async function* () {
            yield eventAt(1);
            throw error;
          },
        },
      });
      await expect(client.session.startTurn({})).rejects.toEqual(error);
      const seen: unknown[] = [];
      await expect(collect(client.event.subscribeEvents({}), seen)).rejects.toEqual(error);
      expect(seen).toEqual([eventAt(1)]);
    },
  );

  it("throws `internal` where a service has a bug", async () => {
    const { client } = await connect({ session: { startTurn: () => Promise.reject(new TypeError("x is undefined")) } });
    await expect(client.session.startTurn({})).rejects.toMatchObject({
      name: "ForgeError",
      code: ErrorCode.INTERNAL,
      detail: { origin: "control-plane", retryable: false },
    });
  });

  it.each([
    [{ title: "half of \ud83d" }, "title"],
    [{ labels: { "\udc00": "a" } }, "labels"],
    [{ agent: { tools: ["a", "b\ud800"] } }, "agent.tools[1]"],
  ])("refuses text that would arrive as another, naming the field: %j", async (request, field) => {
    const { client, received } = await connect({});
    await expect(client.session.createSession(request)).rejects.toMatchObject({ code: ErrorCode.VALIDATION, detail: { metadata: { field } } });
    expect(received).toEqual([]);
  });

  it("ends a stream with `cancelled` when its reader gives it up, or closes the client", async () => {
    const ended = vi.fn<() => void>();
    const { client } = await connect({
      event: {
        subscribeEvents: async function* (_request, { signal }) {
          yield eventAt(1);
          if (!signal.aborted) await once(signal, "abort");
          ended();
        },
      },
    });
    const stop = new AbortController();
    const streams = [client.event.subscribeEvents({}, { signal: stop.signal }), client.event.subscribeEvents({})].map((stream) =>
      stream[Symbol.asyncIterator](),
    );
    for (const stream of streams) await stream.next();
    const ends = streams.map((stream) => stream.next());
    stop.abort();
    await expect(ends[0]).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    await client.close();
    await expect(ends[1]).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    await until(() => expect(ended).toHaveBeenCalledTimes(2));
    await expect(client.session.listSessions({})).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    await expect(collect(client.event.subscribeEvents({}))).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
  });
});

describe("a client whose server goes away", () => {
  it("is told that nobody knows what became of its call", async () => {
    const arrived = Promise.withResolvers<void>();
    const { client, served } = await overWire({
      session: {
        startTurn: () => {
          arrived.resolve();
          return new Promise(() => undefined);
        },
      },
    });
    const call = client.session.startTurn({});
    await arrived.promise;
    await Promise.all([
      expect(call).rejects.toMatchObject({ code: ErrorCode.STORAGE_ERROR, reason: "TRANSPORT", detail: { retryable: true } }),
      served.close(),
    ]);
    await expect(client.session.listSessions({})).rejects.toMatchObject({ code: ErrorCode.STORAGE_ERROR, reason: "TRANSPORT" });
  });

  it("is told what is wrong with a request that can't be encoded, at once and for good", async () => {
    const { client } = await overWire({});
    const call = client.session.listSessions({ pageSize: -1 });
    await expect(call).rejects.toMatchObject({ code: ErrorCode.VALIDATION, message: expect.stringContaining("-1"), detail: { retryable: false } });
  });

  it("follows on with the next one, from where it was", async () => {
    const asked: number[] = [];
    const subscribeEvents: NonNullable<Overrides["event"]>["subscribeEvents"] = async function* ({ streams }, { signal }) {
      const after = Number(streams[0]?.afterSeq);
      asked.push(after);
      yield eventAt(after + 1);
      yield eventAt(after + 2);
      if (!signal.aborted) await once(signal, "abort");
    };
    const { client, served } = await overWire({ event: { subscribeEvents } });
    const stop = new AbortController();
    const lost: ForgeError[] = [];
    const events = followEvents(client, {
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
    const successor = await serve({ event: { subscribeEvents } }, { port: served.port });
    cleanup.push(() => successor.close());
    expect([await following, await next()]).toEqual([3, 4]);
    expect(asked).toEqual([0, 2]);
    expect(lost.length).toBeGreaterThan(0);
    const end = next();
    stop.abort();
    expect(await end).toBeUndefined();
  });
});
