import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { ForgeError } from "@forge/protocol";
import { ArtifactService } from "@forge/protocol/artifact";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { EventService, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { CreateSessionResponseSchema, SessionService } from "@forge/protocol/session";
import { WorkerService } from "@forge/protocol/worker";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ServerOptions } from "./server.ts";
import { type Overrides, type Served, serve as serveFakes, WORKER_TOKEN } from "./testing/index.ts";
import { AS_CLIENT, failureOf, TRANSPORTS } from "./testing/transports.ts";

const cleanup: (() => Promise<void>)[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of cleanup.splice(0)) await close();
});

async function serve(overrides?: Overrides, options?: Partial<ServerOptions>): Promise<Served> {
  const served = await serveFakes(overrides, options);
  cleanup.push(() => served.close());
  return served;
}

/** Waits until a check holds; a busy machine may take its time. */
async function until(check: () => void): Promise<void> {
  await vi.waitFor(check, 10_000);
}

function overHttp2({ url }: { readonly url: string }) {
  return createConnectTransport({ baseUrl: url, httpVersion: "2" });
}

function position(seq: number) {
  return create(SubscribeEventsResponseSchema, { kind: { case: "position", value: { seq: BigInt(seq) } } });
}

async function collect<T>(messages: AsyncIterable<T>, into: T[] = []): Promise<T[]> {
  for await (const message of messages) into.push(message);
  return into;
}

describe.each(TRANSPORTS)("over %s", (name, createTransport) => {
  it("calls are answered, streams are streamed, and an error keeps all it says, before and amid a stream", async () => {
    const refusal = new ForgeError(ErrorCode.CONFLICT, "seq is 7, not 5: größer", {
      reason: "SEQ_MISMATCH",
      origin: "control-plane",
      relatedIds: ["session"],
      metadata: { current_seq: "7" },
      retryAfter: { $typeName: "google.protobuf.Duration", seconds: 1n, nanos: 5 },
    });
    const served = await serve({
      session: {
        createSession: async () => create(CreateSessionResponseSchema, { sessionId: "made", seq: 2n ** 53n }),
        startTurn: () => Promise.reject(refusal),
      },
      event: {
        subscribeEvents: async function* () {
          yield position(1);
          yield position(2);
          throw refusal;
        },
      },
    });
    const transport = createTransport(served.url);
    const session = createClient(SessionService, transport);
    expect(await session.createSession({ title: "ein Gespräch" }, AS_CLIENT)).toMatchObject({ sessionId: "made", seq: 2n ** 53n });
    expect(served.received[0]).toMatchObject({
      request: { title: "ein Gespräch" },
      call: { namespace: "default", principal: "tester", binary: !name.includes("JSON") },
    });

    const unary = await failureOf(session.startTurn({}, AS_CLIENT));
    expect({ code: unary.code, details: unary.findDetails(ForgeErrorSchema) }).toEqual({ code: Code.Aborted, details: [refusal.detail] });

    const seen: unknown[] = [];
    const amid = await failureOf(collect(createClient(EventService, transport).subscribeEvents({}, AS_CLIENT), seen));
    expect(seen).toEqual([position(1), position(2)]);
    expect({ code: amid.code, details: amid.findDetails(ForgeErrorSchema) }).toEqual({ code: Code.Aborted, details: [refusal.detail] });

    expect((await failureOf(session.createSession({}))).code).toBe(Code.Unauthenticated);
  });
});

describe("a caller", () => {
  it("needs the credential that the method is for, and a namespace that it grants", async () => {
    const served = await serve();
    const transport = overHttp2(served);
    const session = createClient(SessionService, transport);
    const worker = createClient(WorkerService, transport);
    const asWorker = { headers: { authorization: `Bearer ${WORKER_TOKEN}` } };

    for (const call of [
      session.listSessions({}, asWorker),
      worker.register({}, AS_CLIENT),
      session.listSessions({}, { headers: { ...AS_CLIENT.headers, "forge-namespace": "strange" } }),
    ]) {
      const [detail] = (await failureOf(call)).findDetails(ForgeErrorSchema);
      expect(detail).toMatchObject({ code: ErrorCode.PERMISSION_DENIED });
    }
    const [refused] = (await failureOf(session.listSessions({}, asWorker))).findDetails(ForgeErrorSchema);
    expect(refused).toMatchObject({ reason: "ROLE_REQUIRED", message: expect.stringContaining("needs the role viewer or operator or approver or admin") });
    expect(served.received).toEqual([]);

    await worker.register({}, asWorker);
    await session.readConversation({}, asWorker);
    await session.listSessions({}, { headers: { ...AS_CLIENT.headers, "forge-namespace": "other" } });
    expect(served.received.map(({ call: { namespace, principal, queues } }) => ({ namespace, principal, queues }))).toEqual([
      { namespace: "default", principal: "worker:tester", queues: ["gpu"] },
      { namespace: "default", principal: "worker:tester", queues: ["gpu"] },
      { namespace: "other", principal: "tester", queues: [] },
    ]);
  });

  it.each(["application/json", "application/grpc+proto"])(
    "whose credential is no good is told so before its request has arrived, over %s",
    async (contentType) => {
      const served = await serve();
      const refused = async (token: string, path: string) => {
        const session = http2.connect(served.url);
        try {
          const stream = session.request({ ":method": "POST", ":path": path, "content-type": contentType, authorization: `Bearer ${token}`, te: "trailers" });
          // Nothing of the body is ever sent, nor ended: whoever waits for it waits until the test gives up.
          stream.write("");
          const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader];
          const trailers = contentType.includes("grpc") ? ((await once(stream.resume(), "trailers")) as [http2.IncomingHttpHeaders])[0] : {};
          return trailers["grpc-status"] ?? String(headers[":status"]);
        } finally {
          session.destroy();
        }
      };
      const [unauthenticated, denied] = contentType.includes("grpc") ? ["16", "7"] : ["401", "403"];
      expect(await refused("forge_nobody_0123456789", "/forge.artifact.v1.ArtifactService/PutArtifact")).toBe(unauthenticated);
      expect(await refused(WORKER_TOKEN, "/forge.session.v1.SessionService/CreateSession")).toBe(denied);
      expect(served.received).toEqual([]);
    },
  );

  it("that sends more than any request may hold is refused before anything is done", async () => {
    const served = await serve();
    const artifact = createClient(ArtifactService, overHttp2(served));
    await artifact.putArtifact({ content: new Uint8Array(16 * 1024 * 1024) }, AS_CLIENT);
    const error = await failureOf(artifact.putArtifact({ content: new Uint8Array(22 * 1024 * 1024) }, AS_CLIENT));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(served.received).toHaveLength(1);
  });

  it("may send the largest artifact as JSON, too", async () => {
    const served = await serve();
    const answer = await fetch(`${served.url}/forge.artifact.v1.ArtifactService/PutArtifact`, {
      method: "POST",
      headers: { ...AS_CLIENT.headers, "content-type": "application/json" },
      body: `{"content": "${Buffer.alloc(16 * 1024 * 1024).toString("base64")}"}`,
    });
    expect(answer.status).toBe(200);
    expect(served.received).toHaveLength(1);
  });

  it("gets `deadline exceeded` when its time is over, and that is no bug", async () => {
    const listSessions: NonNullable<Overrides["session"]>["listSessions"] = async (_, { signal }) => {
      await once(signal, "abort");
      throw signal.reason as Error;
    };
    const served = await serve({ session: { listSessions } });
    const error = await failureOf(createClient(SessionService, overHttp2(served)).listSessions({}, { ...AS_CLIENT, timeoutMs: 50 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
    await until(() => expect(served.activity.open).toBe(0));
    expect(served.bugs).toEqual([]);
  });

  it("sees of a bug only the id under which it is logged", async () => {
    const bug = new TypeError("password is hunter2");
    const served = await serve({ session: { listSessions: () => Promise.reject(bug) } });
    const error = await failureOf(createClient(SessionService, overHttp2(served)).listSessions({}, AS_CLIENT));
    expect(served.bugs).toEqual([{ error: bug, id: expect.stringMatching(/^[0-9a-f]{8}$/) }]);
    expect(error.rawMessage).toContain(served.bugs[0]?.id);
    expect(JSON.stringify([error.rawMessage, error.findDetails(ForgeErrorSchema)])).not.toContain("hunter2");
  });

  it("that calls what does not exist is told so", async () => {
    const served = await serve();
    expect((await fetch(`${served.url}/forge.session.v1.SessionService/Nothing`, { method: "POST", ...AS_CLIENT })).status).toBe(404);
    expect((await fetch(served.url)).status).toBe(404);
  });

  it("whose message is no message is told so, and that is no bug", async () => {
    const served = await serve();
    const answer = await fetch(`${served.url}/forge.session.v1.SessionService/CreateSession`, {
      method: "POST",
      headers: { ...AS_CLIENT.headers, "content-type": "application/json" },
      body: '{"title": 5',
    });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({ status: 400, body: { code: "invalid_argument" } });
    expect(served.bugs).toEqual([]);
  });
});

describe("a browser's page", () => {
  it("is refused over both versions of HTTP unless its origin is known", async () => {
    const served = await serve({}, { origins: ["http://localhost:5173"] });
    for (const httpVersion of ["1.1", "2"] as const) {
      const session = createClient(SessionService, createConnectTransport({ baseUrl: served.url, httpVersion }));
      const from = (origin: string) => session.listSessions({}, { headers: { ...AS_CLIENT.headers, origin } });
      expect((await failureOf(from("http://evil.example"))).code).toBe(Code.PermissionDenied);
      await from("http://localhost:5173");
    }
    expect(served.received).toHaveLength(2);
  });

  it("of an origin that is known may ask before it calls, and read answers and errors; another's may not", async () => {
    const served = await serve({}, { origins: ["http://localhost:5173"] });
    const url = `${served.url}/forge.session.v1.SessionService/ListSessions`;
    const asked = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,connect-protocol-version,content-type,forge-namespace",
    };
    const preflight = (origin: string, more = {}) => fetch(url, { method: "OPTIONS", headers: { origin, ...asked, ...more } });

    const answer = await preflight("http://localhost:5173");
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
    expect(answer.headers.get("access-control-allow-methods")).toContain("POST");
    const allowed = answer.headers.get("access-control-allow-headers")?.toLowerCase().split(", ");
    for (const header of asked["access-control-request-headers"].split(",")) expect(allowed).toContain(header);
    expect(answer.headers.get("access-control-allow-private-network")).toBeNull();
    const near = await preflight("http://localhost:5173", { "access-control-request-private-network": "true" });
    expect(near.headers.get("access-control-allow-private-network")).toBe("true");

    const strange = await preflight("http://evil.example");
    expect(strange.status).toBe(403);
    expect(strange.headers.get("access-control-allow-origin")).toBeNull();

    const call = (headers: Record<string, string>) =>
      fetch(url, { method: "POST", headers: { origin: "http://localhost:5173", "content-type": "application/json", ...headers }, body: "{}" });
    for (const [headers, status] of [
      [AS_CLIENT.headers, 200],
      [{}, 401],
    ] as const) {
      const called = await call(headers);
      expect(called.status).toBe(status);
      expect(called.headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
      expect(called.headers.get("vary")).toContain("Origin");
    }
    // Who has no origin is no browser's page.
    expect(
      (await fetch(url, { method: "POST", headers: { ...AS_CLIENT.headers, "content-type": "application/json" }, body: "{}" })).headers.get(
        "access-control-allow-origin",
      ),
    ).toBeNull();
  });

  it("that comes under a strange host is refused, but a probe of the server's health is not", async () => {
    const served = await serve();
    const ask = async (path: string): Promise<string> => {
      const socket = net.connect(served.port, "127.0.0.1");
      socket.end(`GET ${path} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`);
      return (await collect<Buffer>(socket)).join("");
    };
    expect(await ask("/")).toMatch(/^HTTP\/1.1 403 /);
    expect(await ask("/healthz")).toMatch(/^HTTP\/1.1 200 [\s\S]*\nok\n/);
  });
});

describe("open streams", () => {
  function endless() {
    const ended = vi.fn<() => void>();
    const subscribeEvents: NonNullable<Overrides["event"]>["subscribeEvents"] = async function* (_, { signal }) {
      try {
        yield position(1);
        await once(signal, "abort");
      } finally {
        ended();
      }
    };
    return { ended, overrides: { event: { subscribeEvents } } };
  }

  it("and calls of clients count as activity until they end, those of workers never", async () => {
    const gate = Promise.withResolvers<void>();
    const { overrides } = endless();
    const served = await serve({
      ...overrides,
      worker: {
        heartbeat: async () => {
          await gate.promise;
          throw new ForgeError(ErrorCode.NOT_FOUND, "gone");
        },
      },
    });
    const transport = overHttp2(served);
    const startedMs = Date.now();
    const heartbeat = failureOf(createClient(WorkerService, transport).heartbeat({}, { headers: { authorization: `Bearer ${WORKER_TOKEN}` } }));
    const stop = new AbortController();
    const events = createClient(EventService, transport);
    const stream = events.subscribeEvents({}, { ...AS_CLIENT, signal: stop.signal })[Symbol.asyncIterator]();
    await stream.next();
    await until(() => expect(served.received).toHaveLength(2));
    expect(served.activity.open).toBe(1);
    stop.abort();
    await expect(stream.next()).rejects.toMatchObject({ code: Code.Canceled });
    await until(() => expect(served.activity.open).toBe(0));
    expect(served.activity.lastAtMs).toBeGreaterThanOrEqual(startedMs);
    gate.resolve();
    await heartbeat;
    expect(served.activity.open).toBe(0);
  });

  it("end when the server closes, and so does what serves them", async () => {
    const { ended, overrides } = endless();
    const served = await serve(overrides);
    const failures: Promise<unknown>[] = [];
    for (const [, createTransport] of TRANSPORTS) {
      const stream = createClient(EventService, createTransport(served.url)).subscribeEvents({}, AS_CLIENT)[Symbol.asyncIterator]();
      await stream.next();
      failures.push(failureOf(stream.next()));
    }
    await served.close();
    await Promise.all(failures);
    await until(() => expect(ended).toHaveBeenCalledTimes(TRANSPORTS.length));
    await served.close();
    await expect(fetch(`${served.url}/healthz`)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
  });

  it("are ended when the reader has gone without reading", async () => {
    const ended = vi.fn<() => void>();
    const served = await serve({
      event: {
        subscribeEvents: async function* () {
          try {
            for (let seq = 1; ; seq++) yield position(seq);
          } finally {
            ended();
          }
        },
      },
    });
    const socket = net.connect(served.port, "127.0.0.1");
    const body = Buffer.alloc(5);
    // The library says of every failed write that it failed.
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    socket.write(
      `POST /forge.event.v1.EventService/SubscribeEvents HTTP/1.1\r\nhost: localhost\r\nauthorization: ${AS_CLIENT.headers.authorization}\r\n` +
        `content-type: application/connect+proto\r\nconnect-protocol-version: 1\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
    socket.pause();
    await once(socket, "readable");
    socket.destroy();
    await until(() => expect(ended).toHaveBeenCalledTimes(1));
    await until(() => expect(served.activity.open).toBe(0));
  });
});

describe("streams over HTTP/2 whose reader leaves amid them", () => {
  it("end, and that is no bug", async () => {
    const ended = vi.fn<() => void>();
    const served = await serve({
      event: {
        subscribeEvents: async function* () {
          try {
            for (let seq = 1; ; seq++) {
              yield position(seq);
              await setImmediate();
            }
          } finally {
            ended();
          }
        },
      },
    });
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const client = createClient(EventService, overHttp2(served));
    for (let index = 0; index < 20; index++) {
      let read = 0;
      for await (const _ of client.subscribeEvents({}, AS_CLIENT)) if (++read > index * 7) break;
    }
    await until(() => expect(ended).toHaveBeenCalledTimes(20));
    await until(() => expect(served.activity.open).toBe(0));
    expect(served.bugs).toEqual([]);
  });
});

it("a stream that ends at its deadline says so, whoever's clock was first", async () => {
  const subscribeEvents = async function* (_: unknown, { signal }: { readonly signal: AbortSignal }) {
    yield position(1);
    await once(signal, "abort");
  };
  const served = await serve({ event: { subscribeEvents } });
  const answer = await fetch(`${served.url}/forge.event.v1.EventService/SubscribeEvents`, {
    method: "POST",
    headers: { ...AS_CLIENT.headers, "content-type": "application/connect+json", "connect-protocol-version": "1", "connect-timeout-ms": "200" },
    body: Buffer.concat([Buffer.from([0, 0, 0, 0, 2]), Buffer.from("{}")]),
  });
  // The last frame of the stream, which has the flag 2, is its end.
  expect(await answer.text()).toMatch(/"error":\{"code":"deadline_exceeded"/);
  expect(served.bugs).toEqual([]);
});

describe("a server", () => {
  it("says which port is in use", async () => {
    const { port } = await serve();
    await expect(serveFakes({}, { port })).rejects.toMatchObject({
      code: ErrorCode.CONFLICT,
      reason: "PORT_IN_USE",
      detail: { metadata: { port: String(port) } },
    });
  });

  it("says where it can't listen", async () => {
    const host = "192.0.2.1";
    await expect(serveFakes({}, { host })).rejects.toMatchObject({ code: ErrorCode.VALIDATION, detail: { metadata: { field: "host", host } } });
  });

  // Only Linux has all of 127.0.0.0/8.
  const hosts = ["127.0.0.1", "localhost", "0.0.0.0", ...(process.platform === "linux" ? ["127.0.0.2"] : [])];
  it.each(hosts)("that listens on %s serves under the URL that it tells", async (host) => {
    const served = await serve({}, { host });
    await createClient(SessionService, overHttp2(served)).listSessions({}, AS_CLIENT);
    expect(served.received).toHaveLength(1);
  });
});
