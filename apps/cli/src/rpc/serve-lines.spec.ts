import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { create, type Message } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { type GetSessionSnapshotRequest, GetSessionSnapshotResponseSchema } from "@forge/protocol/session";
import { describe, expect, it, vi } from "vitest";
import type { Caller } from "./caller.ts";
import { LINE_BYTES_MAX, serveLines } from "./serve-lines.ts";

type Said = Record<string, unknown>;

/** Lines served over a caller that is put in place of the server: what is written, and what has been answered. */
function served(overrides: Partial<Caller> = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const stop = new AbortController();
  const caller: Caller = {
    unary: async ({ method }) => create(method.output),
    stream: async function* () {},
    ...overrides,
  };
  let text = "";
  output.setEncoding("utf8").on("data", (data: string) => {
    text += data;
  });
  const done = serveLines({ input, output, caller, signal: stop.signal });
  const said = (): Said[] =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Said);
  return {
    input,
    stop,
    done,
    said,
    write: (...requests: (object | string)[]) => {
      for (const request of requests) input.write(`${typeof request === "string" ? request : JSON.stringify(request)}\n`);
    },
    /** Ends the input; everything that was answered. */
    end: async (): Promise<Said[]> => {
      input.end();
      await done;
      return said();
    },
  };
}

/** Answers a snapshot with the id that it was asked for. */
const echo: Caller["unary"] = async (_, request) => {
  const { sessionId } = request as GetSessionSnapshotRequest;
  return create(GetSessionSnapshotResponseSchema, { session: { sessionId, seq: 2n ** 53n + 1n } });
};

function snapshotOf(id: unknown, sessionId = "s") {
  return { id, method: "SessionService.GetSessionSnapshot", params: { session_id: sessionId } };
}

function subscribe(id: unknown, params: object = {}) {
  return { id, method: "EventService.SubscribeEvents", params };
}

function message(kind: "caughtUp" | "position"): Message {
  return create(
    SubscribeEventsResponseSchema,
    kind === "caughtUp" ? { kind: { case: "caughtUp", value: {} } } : { kind: { case: "position", value: { seq: 7n } } },
  );
}

async function until(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  throw new ForgeError(ErrorCode.CANCELLED, "given up");
}

describe("a call", () => {
  it("is answered with its id, in protobuf JSON with the names of the contract", async () => {
    const { write, end } = served({ unary: echo });
    write(snapshotOf(1, "größer \u2028 🙂"), snapshotOf("two"));
    expect(await end()).toEqual([
      { id: 1, result: { session: { session_id: "größer \u2028 🙂", seq: "9007199254740993" } } },
      { id: "two", result: { session: { session_id: "s", seq: "9007199254740993" } } },
    ]);
  });

  it("that fails is answered with the error", async () => {
    const error = new ForgeError(ErrorCode.CONFLICT, "no", { reason: "SEQ_MISMATCH", metadata: { current_seq: "7" }, retryable: true });
    const { write, end } = served({ unary: () => Promise.reject(error) });
    write(snapshotOf(1));
    expect(await end()).toEqual([
      { id: 1, error: { code: "ERROR_CODE_CONFLICT", reason: "SEQ_MISMATCH", message: "no", metadata: { current_seq: "7" }, retryable: true } },
    ]);
  });

  it("waits for no other, and is answered when it is done", async () => {
    const gates = new Map(["a", "b", "c"].map((id) => [id, Promise.withResolvers<void>()]));
    const { write, said, end } = served({
      unary: async (method, request, signal) => {
        await gates.get((request as GetSessionSnapshotRequest).sessionId)?.promise;
        return echo(method, request, signal);
      },
    });
    write(snapshotOf(1, "a"), snapshotOf(2, "b"), snapshotOf(3, "c"));
    gates.get("c")?.resolve();
    await vi.waitFor(() => expect(said().map(({ id }) => id)).toEqual([3]));
    gates.get("a")?.resolve();
    await vi.waitFor(() => expect(said().map(({ id }) => id)).toEqual([3, 1]));
    const ending = end();
    gates.get("b")?.resolve();
    expect((await ending).map(({ id }) => id)).toEqual([3, 1, 2]);
  });

  it("is cancelled by its id, and a cancellation of nothing is no error", async () => {
    const { write, said, end } = served({ unary: (_method, _request, signal) => until(signal) });
    write(snapshotOf(1), { method: "cancel", params: { id: 2 } }, { id: "x", method: "cancel", params: { id: 1 } });
    await vi.waitFor(() => expect(said()).toHaveLength(2));
    expect(await end()).toEqual([
      { id: "x", result: {} },
      { id: 1, error: expect.objectContaining({ code: "ERROR_CODE_CANCELLED" }) },
    ]);
  });

  it("may not have the id of one that is open, and only so many may be open", async () => {
    const { write, said, stop, done } = served({ unary: (_method, _request, signal) => until(signal) });
    write(snapshotOf(1), snapshotOf(1));
    await vi.waitFor(() => expect(said()).toEqual([{ id: null, error: expect.objectContaining({ reason: "CALL_OPEN", related_ids: ["1"] }) }]));
    write(...Array.from({ length: 1_000 }, (_, index) => snapshotOf(index + 2)));
    await vi.waitFor(() =>
      expect(said()[1]).toEqual({ id: 1_001, error: expect.objectContaining({ code: "ERROR_CODE_RESOURCE_EXHAUSTED", reason: "CALLS" }) }),
    );
    stop.abort();
    await done;
    expect(said()).toHaveLength(1_002);
  });
});

describe("a subscription", () => {
  it("is answered first, then told of each message, then of its end", async () => {
    const { write, end } = served({
      stream: async function* (_, request) {
        yield message("caughtUp");
        if ((request as { noFollow?: boolean }).noFollow !== true) throw new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, "slow", { reason: "SLOW_SUBSCRIBER" });
      },
    });
    write(subscribe("a"), subscribe("b", { no_follow: true }));
    const said = await end();
    expect(said.filter(({ id, subscription }) => (id ?? subscription) === "a")).toEqual([
      { id: "a", result: {} },
      { subscription: "a", message: { caught_up: {} } },
      { subscription: "a", end: { error: expect.objectContaining({ code: "ERROR_CODE_RESOURCE_EXHAUSTED", reason: "SLOW_SUBSCRIBER" }) } },
    ]);
    expect(said.filter(({ id, subscription }) => (id ?? subscription) === "b")).toEqual([
      { id: "b", result: {} },
      { subscription: "b", message: { caught_up: {} } },
      { subscription: "b", end: {} },
    ]);
  });

  it("that is cancelled says so", async () => {
    const { write, said, end } = served({
      stream: async function* (_method, _request, signal) {
        yield message("caughtUp");
        await until(signal);
      },
    });
    write(subscribe(1));
    await vi.waitFor(() => expect(said()).toHaveLength(2));
    write({ method: "cancel", params: { id: 1 } });
    await vi.waitFor(() => expect(said()[2]).toEqual({ subscription: 1, end: { error: expect.objectContaining({ code: "ERROR_CODE_CANCELLED" }) } }));
    expect(await end()).toHaveLength(3);
  });

  it.each([
    ["before", true],
    ["after", false],
  ])("ends with the input when it has caught up, which it does %s that", async (_, isEarly) => {
    const gate = Promise.withResolvers<void>();
    const { write, said, end } = served({
      stream: async function* (_method, _request, signal) {
        yield message("position");
        if (!isEarly) await gate.promise;
        yield message("caughtUp");
        await until(signal);
      },
    });
    write(subscribe(1));
    await vi.waitFor(() => expect(said()).toHaveLength(isEarly ? 3 : 2));
    const ending = end();
    gate.resolve();
    expect(await ending).toEqual([
      { id: 1, result: {} },
      { subscription: 1, message: { position: { seq: "7" } } },
      { subscription: 1, message: { caught_up: {} } },
      { subscription: 1, end: {} },
    ]);
  });

  it("waits for a reader who is behind, and so do further lines", async () => {
    let yielded = 0;
    const written: (() => void)[] = [];
    const output = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void written.push(done) });
    const input = new PassThrough();
    const called = vi.fn<() => void>();
    const caller: Caller = {
      unary: async ({ method }) => {
        called();
        return create(method.output);
      },
      stream: async function* (_method, _request, signal) {
        while (!signal.aborted && yielded < 1_000) {
          yielded++;
          yield message("position");
        }
      },
    };
    const stop = new AbortController();
    const done = serveLines({ input, output, caller, signal: stop.signal });
    input.write(`${JSON.stringify(subscribe(1))}\n${JSON.stringify(snapshotOf(2))}\n`);
    await vi.waitFor(() => expect(written).toHaveLength(1));
    await new Promise((resolve) => setImmediate(resolve));
    expect(yielded).toBeLessThan(5);
    expect(called).not.toHaveBeenCalled();
    // Nor does the end wait for him.
    stop.abort();
    await done;
    expect(called).not.toHaveBeenCalled();
  });
});

describe("a line", () => {
  const tooDeep = `{"id":1,"method":"SessionService.ListSessions","params":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`;
  it.each([
    ["that is no JSON", "{", null, "PARSE"],
    ["that is no object", "[1]", null, "PARSE"],
    ["that is null", "null", null, "PARSE"],
    ["of rubbish", "\u0000\u0001 GET / HTTP/1.1", null, "PARSE"],
    ["without id", '{"method":"SessionService.ListSessions"}', null, ""],
    ["with an id of another kind", '{"id":1.5,"method":"SessionService.ListSessions"}', null, ""],
    ["with an id that loses digits", '{"id":12345678901234567890,"method":"SessionService.ListSessions"}', null, ""],
    ["with an empty id", '{"id":"","method":"SessionService.ListSessions"}', null, ""],
    ["with an id without end", JSON.stringify({ id: "x".repeat(129), method: "SessionService.ListSessions" }), null, ""],
    ["without method", '{"id":1}', 1, ""],
    ["with a method of another kind", '{"id":1,"method":{}}', 1, ""],
    ["with a method that there is not", '{"id":1,"method":"SessionService.constructor"}', 1, ""],
    ["with a worker's method", '{"id":1,"method":"WorkerService.Register"}', 1, ""],
    ["with a field that there is not", '{"id":1,"method":"SessionService.ListSessions","param":{}}', 1, ""],
    ["with params of another kind", '{"id":1,"method":"SessionService.ListSessions","params":[]}', 1, ""],
    ["with params that are not in the contract", '{"id":1,"method":"SessionService.ListSessions","params":{"status":"SESSION_STATUS_FROZEN"}}', 1, ""],
    ["with a prototype", '{"id":1,"method":"SessionService.ListSessions","params":{"__proto__":{"x":1}}}', 1, ""],
    ["with params without bottom", tooDeep, 1, ""],
    ["that cancels what is no id", '{"id":1,"method":"cancel","params":{"id":[]}}', 1, ""],
  ])("%s is answered with an error, and the next one is served", async (_, line, id, reason) => {
    const { write, end } = served();
    write(line, { id: "next", method: "SessionService.ListSessions" });
    const [refused, next, ...rest] = await end();
    expect(refused).toEqual({ id, error: expect.objectContaining({ code: expect.stringMatching(/^ERROR_CODE_(VALIDATION|UNSUPPORTED)$/) }) });
    expect((refused as { readonly error: Said }).error.reason ?? "").toBe(reason);
    expect([next, ...rest]).toEqual([{ id: "next", result: {} }]);
  });

  it("that is too long, or no UTF-8, is answered with an error, and the next one is served", async () => {
    const { input, write, end } = served();
    input.write(Buffer.from([0xff, 0x0a]));
    for (let count = 0; count <= LINE_BYTES_MAX; count += 1024 * 1024) input.write(Buffer.alloc(1024 * 1024, "x"));
    write("", snapshotOf("next"));
    expect(await end()).toEqual([
      { id: null, error: expect.objectContaining({ reason: "PARSE" }) },
      { id: null, error: expect.objectContaining({ reason: "LINE_TOO_LONG" }) },
      { id: "next", result: {} },
    ]);
  });

  it("may be cut anywhere, come with others, end as on Windows, be empty, or lack its end", async () => {
    const { input, end } = served({ unary: echo });
    const bytes = Buffer.from(`${JSON.stringify(snapshotOf(1, "größer 🙂"))}\r\n\r\n  \n${JSON.stringify(snapshotOf(2))}\n${JSON.stringify(snapshotOf(3))}`);
    for (const byte of bytes) input.write(Buffer.from([byte]));
    const said = await end();
    expect(said.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(said[0]).toMatchObject({ result: { session: { session_id: "größer 🙂" } } });
  });
});

describe("the end", () => {
  it("by a signal answers what is open with `cancelled`", async () => {
    const { write, stop, done, said } = served({ unary: (_method, _request, signal) => until(signal) });
    write(snapshotOf(1));
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await done;
    expect(said()).toEqual([{ id: 1, error: expect.objectContaining({ code: "ERROR_CODE_CANCELLED" }) }]);
  });
});
