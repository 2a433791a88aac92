import { durationMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CircuitChange } from "../breaker/circuit-breaker.ts";
import { createModelHandlers } from "../model-handler.ts";
import { createProviderRegistry } from "../registry.ts";
import type { FakeContext } from "../testing/fake-context.ts";
import { googleError } from "../testing/google-stream.ts";
import { callOf, failureOf, KEY, perform, tracesOf, user } from "../testing/provider-call.ts";
import { type Reply, resetReply, startWireServer, statusReply, streamReply, type WireServer } from "../testing/wire-server.ts";
import { WIRES } from "../testing/wires.ts";

describe.each(WIRES)("a provider that fails, over the wire of $model", (wire) => {
  let server: WireServer;
  beforeEach(async () => {
    server = await startWireServer(wire.path);
  });
  afterEach(() => server.close());

  const run = (context: FakeContext = callOf(wire.model)) => perform(wire.env(server.baseUrl), context);

  async function failed(reply: Reply, context: FakeContext = callOf(wire.model)) {
    server.enqueue(reply);
    const outcome = await run(context);
    expect(tracesOf(context, outcome)).not.toContain(KEY);
    return { ...failureOf(outcome), context };
  }

  it("is asked again after Retry-After where it limits the rate", async () => {
    const { error } = await failed(statusReply(429, wire.error(429, "Slow down."), { "retry-after": "7" }));
    expect(error).toMatchObject({ code: ErrorCode.PROVIDER_ERROR, reason: "RATE_LIMITED", retryable: true, message: expect.stringContaining("Slow down.") });
    expect(error.retryAfter && durationMs(error.retryAfter)).toBe(7000);
    expect(server.requests).toHaveLength(1);
  });

  it.each(wire.overflows)("that finds the request too long says CONTEXT_OVERFLOW (HTTP %i)", async (status, body) => {
    expect((await failed(statusReply(status, body))).error).toMatchObject({ reason: "CONTEXT_OVERFLOW", retryable: false });
  });

  it("that says so within the stream does, too", async () => {
    expect((await failed(streamReply([wire.overflowInStream]))).error).toMatchObject({ reason: "CONTEXT_OVERFLOW", retryable: false });
  });

  it.each(wire.quotas)("whose account has no money is not asked again (HTTP %i)", async (status, body) => {
    expect((await failed(statusReply(status, body, { "retry-after": "1" }))).error).toMatchObject({ reason: "QUOTA_EXHAUSTED", retryable: false });
  });

  it("that does not accept the key names the variable and never the key", async () => {
    const forms = [KEY, Buffer.from(KEY).toString("base64"), Buffer.from(`user:${KEY}`).toString("base64"), encodeURIComponent(`${KEY}+`)];
    const { error } = await failed(statusReply(401, wire.error(401, `No such key: ${forms.join(" ")}`)));
    expect(error).toMatchObject({ reason: "PROVIDER_UNAUTHENTICATED", retryable: false });
    expect(error.message).toContain(`Set ${wire.keyVariable}`);
    for (const form of forms) expect(error.message).not.toContain(form);
  });

  it.each([500, 503, 529])("may be asked again after HTTP %i, whatever its body", async (status) => {
    expect((await failed(statusReply(status, "<html>Bad gateway</html>"))).error).toMatchObject({ reason: "PROVIDER_UNAVAILABLE", retryable: true });
    expect((await failed(statusReply(status, wire.error(500, "boom")))).error).toMatchObject({ reason: "PROVIDER_UNAVAILABLE", retryable: true });
  });

  it("may be asked again where it hangs up before it answers", async () => {
    expect((await failed(resetReply())).error).toMatchObject({ reason: "CONNECTION", retryable: true });
  });

  it("that breaks off is asked again only where nothing of the answer had come", async () => {
    expect(await failed(streamReply([wire.opened], "reset"))).toMatchObject({ error: { retryable: true }, afterOutput: false });
    expect(await failed(streamReply([wire.begun("Half an ans")], "reset"))).toMatchObject({
      error: { reason: "STREAM_BROKEN", retryable: false },
      afterOutput: true,
    });
  });

  it("whose stream ends properly but without an end of the answer has not answered", async () => {
    expect(await failed(streamReply([wire.begun("Half an ans")]))).toMatchObject({ error: { reason: "STREAM_BROKEN" }, afterOutput: true });
    expect(await failed(streamReply([wire.opened]))).toMatchObject({ error: { reason: "STREAM_BROKEN", retryable: true }, afterOutput: false });
    expect(await failed(streamReply([]))).toMatchObject({ error: { retryable: true }, afterOutput: false });
  });

  it("that writes an error into its stream is asked again where that may help", async () => {
    expect((await failed(streamReply([wire.opened, wire.errorInStream]))).error).toMatchObject({ retryable: true });
    expect(await failed(streamReply([wire.begun("a"), wire.errorInStream]))).toMatchObject({ error: { retryable: false }, afterOutput: true });
  });

  it("that writes nonsense is told so", async () => {
    expect((await failed(streamReply([wire.garbage]))).error).toMatchObject({ reason: "BAD_RESPONSE", retryable: true });
  });

  it("whose answer never ends is stopped, in one line or in many", async () => {
    const piece = "x".repeat(1024 * 1024);
    const line = streamReply(["data: ", ...Array.from({ length: 9 }, () => piece)], "hang");
    expect((await failed(line)).error).toMatchObject({ reason: "STREAM_BROKEN" });
    const many = Array.from({ length: 5 }, () => wire.begun(piece));
    expect(await failed(streamReply(many, "hang"))).toMatchObject({ afterOutput: true, error: { retryable: false } });
    for (const request of server.requests) expect(await request.closedByClient).toBe(true);
  });

  it("that stalls is given up at the deadline and at a cancellation, its connection with it", async () => {
    for (const stop of ["passDeadline", "cancel"] as const) {
      server.enqueue(streamReply([wire.begun("a")], "hang"));
      const context: FakeContext = callOf(wire.model, [user("hi")], { onReport: () => context[stop]() });
      const outcome = await run(context);
      expect(outcome.case).toBe(stop === "cancel" ? "cancelled" : "failure");
      expect(await server.requests.at(-1)?.closedByClient).toBe(true);
    }
  });

  it("that says nothing for too long is given up, before its answer and in its midst", async () => {
    for (const [reply, afterOutput] of [
      [() => undefined, false],
      [streamReply([wire.opened], "hang"), false],
      [streamReply([wire.begun("a")], "hang"), true],
    ] as const) {
      server.enqueue(reply);
      const outcome = await perform(wire.env(server.baseUrl), callOf(wire.model), { stallMs: 60 });
      expect(failureOf(outcome)).toMatchObject({ afterOutput, error: { reason: "STREAM_STALLED", retryable: !afterOutput } });
      expect(await server.requests.at(-1)?.closedByClient).toBe(true);
    }
  });

  it("that is out of order is left alone after five calls, until it is time to try again", async () => {
    const changes: CircuitChange[] = [];
    const { providers } = createProviderRegistry({ env: wire.env(server.baseUrl) });
    const handler = createModelHandlers({ providers, onCircuitChange: (change) => changes.push(change) }).find(
      ({ capability }) => capability.name === `${wire.model.split("/")[0]}/*`,
    );
    const call = async () => {
      const context = callOf(wire.model);
      return { context, ...failureOf((await handler?.run(context)) as NonNullable<Awaited<ReturnType<typeof run>>>) };
    };
    server.enqueue(...Array.from({ length: 5 }, () => statusReply(503, wire.error(503, "down"))));
    for (let count = 0; count < 5; count++) expect((await call()).error.reason).toBe("PROVIDER_UNAVAILABLE");
    const { error, afterOutput, context } = await call();
    expect(error).toMatchObject({ reason: "CIRCUIT_OPEN", retryable: true });
    expect(error.retryAfter && durationMs(error.retryAfter)).toBeGreaterThan(10_000);
    expect([afterOutput, context.starts.length, server.requests.length]).toEqual([false, 0, 5]);
    expect(changes.map(({ state }) => state)).toEqual(["open"]);
  });

  it("is followed to no other address", async () => {
    server.enqueue(statusReply(307, "", { location: `${server.baseUrl}/elsewhere` }));
    await run();
    expect(server.requests).toHaveLength(1);
  });
});

describe("Google", () => {
  let server: WireServer;
  beforeEach(async () => {
    server = await startWireServer("/v1beta");
  });
  afterEach(() => server.close());
  const failed = async (reply: Reply) => {
    server.enqueue(reply);
    return failureOf(await perform({ GEMINI_BASE_URL: server.baseUrl, GEMINI_API_KEY: KEY }, callOf("google/gemini-2.5-flash"))).error;
  };

  it("says how long to wait in the body, and by which quota", async () => {
    const details = [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel" }] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.07s" },
    ];
    const error = await failed(
      statusReply(429, googleError(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.", details)),
    );
    expect(error).toMatchObject({ reason: "RATE_LIMITED", retryable: true });
    expect(error.retryAfter && durationMs(error.retryAfter)).toBe(34_070);
  });

  it("answers 400 to a key that it does not know", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }];
    const error = await failed(statusReply(400, googleError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", details)));
    expect(error).toMatchObject({ reason: "PROVIDER_UNAUTHENTICATED", retryable: false, message: expect.stringContaining("GEMINI_API_KEY") });
  });
});
