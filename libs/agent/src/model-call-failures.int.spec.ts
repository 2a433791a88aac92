import { durationMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FakeContext } from "./testing/fake-context.ts";
import { delta, event, type OpenAiServer, resetReply, startOpenAiServer, statusReply, streamReply } from "./testing/index.ts";
import { contextWith, failureOf, KEY, runAt, user } from "./testing/openai-call.ts";

let server: OpenAiServer;

beforeEach(async () => {
  server = await startOpenAiServer();
});

afterEach(() => server.close());

async function failed(context = contextWith(), baseUrl = server.baseUrl) {
  return { ...failureOf(await runAt(baseUrl, context)), context };
}

describe("when the provider fails", () => {
  it.each([
    ["2", 2000],
    ["Wed, 21 Oct 2015 07:28:05 GMT", 5000],
  ])("waits as long as Retry-After %s says", async (header, ms) => {
    server.enqueue(statusReply(429, { error: { message: "Slow down.", type: "requests" } }, { "retry-after": header }));
    const { error, afterOutput } = await failed();
    expect(error).toMatchObject({ code: ErrorCode.PROVIDER_ERROR, reason: "RATE_LIMITED", retryable: true, message: expect.stringContaining("Slow down.") });
    expect(error.retryAfter && durationMs(error.retryAfter)).toBe(ms);
    expect(afterOutput).toBe(false);
  });

  it.each([500, 503, 529])("may be asked again after HTTP %i", async (status) => {
    server.enqueue(statusReply(status, "<html>Bad gateway</html>"));
    expect((await failed()).error).toMatchObject({ reason: "PROVIDER_UNAVAILABLE", retryable: true, message: expect.stringContaining("Bad gateway") });
    expect(server.requests).toHaveLength(1);
  });

  it("names the variable and never the key where the key is refused", async () => {
    server.enqueue(statusReply(401, { error: { message: `Incorrect API key provided: ${KEY}.` } }));
    const { error } = await failed();
    expect(error).toMatchObject({ reason: "PROVIDER_UNAUTHENTICATED", retryable: false, message: expect.stringContaining("OPENAI_API_KEY") });
    expect(JSON.stringify({ ...error, retryAfter: undefined })).not.toContain(KEY);
  });

  it("is not asked again what it refused", async () => {
    server.enqueue(statusReply(400, { error: { message: "tools[0] is no good" } }));
    expect((await failed()).error).toMatchObject({ reason: "INVALID_REQUEST", retryable: false });
  });

  it("reads no more of an error than people need", async () => {
    server.enqueue(statusReply(500, "x".repeat(5_000_000)));
    expect((await failed()).error.message.length).toBeLessThanOrEqual(4096);
  });

  it("may be asked again where it can't be reached or hangs up before it answers", async () => {
    server.enqueue(resetReply());
    expect((await failed()).error).toMatchObject({ reason: "CONNECTION", retryable: true });
    const gone = server.baseUrl;
    await server.close();
    const { error } = await failed(contextWith(), gone);
    expect(error).toMatchObject({ reason: "CONNECTION", retryable: true, message: expect.stringContaining("ECONNREFUSED") });
    expect(error.message).toContain("OPENAI_BASE_URL");
  });

  it("is not asked again once output had come when the stream broke off", async () => {
    server.enqueue(streamReply([delta({ content: "Half an ans" })], "reset"));
    const { error, afterOutput, context } = await failed();
    expect(error).toMatchObject({ reason: "STREAM_BROKEN", retryable: false });
    expect(afterOutput).toBe(true);
    expect(context.deltas).toHaveLength(1);
  });

  it("may be asked again where the stream broke off before any output", async () => {
    server.enqueue(streamReply([delta({ role: "assistant", content: "" })], "reset"));
    expect(await failed()).toMatchObject({ error: { reason: "STREAM_BROKEN", retryable: true }, afterOutput: false });
  });

  it("does not take a stream without a finish reason for an answer", async () => {
    server.enqueue(streamReply([delta({ content: "Half an ans" })]));
    expect(await failed()).toMatchObject({ error: { reason: "STREAM_BROKEN", message: expect.stringContaining("finish reason") }, afterOutput: true });
  });

  it("reads an error that comes within the stream", async () => {
    server.enqueue(streamReply([event({ error: { message: "The server is overloaded.", type: "server_error" } })]));
    expect(await failed()).toMatchObject({ error: { reason: "PROVIDER_STREAM_ERROR", retryable: true, message: expect.stringContaining("overloaded") } });
  });

  it("does not choke on what is no JSON", async () => {
    server.enqueue(streamReply([event("{nonsense")]));
    expect((await failed()).error).toMatchObject({ reason: "BAD_RESPONSE", retryable: true });
  });

  it("stops a line that never ends", async () => {
    const piece = "x".repeat(1024 * 1024);
    server.enqueue(streamReply(["data: ", ...Array.from({ length: 10 }, () => piece)], "hang"));
    expect((await failed()).error).toMatchObject({ reason: "STREAM_BROKEN", message: expect.stringContaining("line of more than") });
    expect(await server.requests[0]?.closedByClient).toBe(true);
  });

  it("stops an answer that never ends", async () => {
    const piece = delta({ content: "x".repeat(1024 * 1024) });
    server.enqueue(
      streamReply(
        Array.from({ length: 5 }, () => piece),
        "hang",
      ),
    );
    expect(await failed()).toMatchObject({ error: { reason: "OUTPUT_TOO_LARGE", retryable: false }, afterOutput: true });
    expect(await server.requests[0]?.closedByClient).toBe(true);
  });

  it("follows no redirect, which would carry the key elsewhere", async () => {
    server.enqueue(statusReply(307, "", { location: `${server.baseUrl}/elsewhere` }));
    await failed();
    expect(server.requests).toHaveLength(1);
  });
});

describe("when the call is to end", () => {
  it("closes the connection at a cancellation in the midst of the answer", async () => {
    server.enqueue(streamReply([delta({ content: "a" })], "hang"));
    const context: FakeContext = contextWith([user("hi")], () => context.cancel());
    expect((await runAt(server.baseUrl, context)).case).toBe("cancelled");
    expect(await server.requests[0]?.closedByClient).toBe(true);
  });

  it("gives a stream that never ends up at the deadline", async () => {
    server.enqueue(streamReply([delta({ content: "a" })], "hang"));
    const context: FakeContext = contextWith([user("hi")], () => context.passDeadline());
    const outcome = await runAt(server.baseUrl, context);
    expect(outcome).toMatchObject({ case: "failure", value: { error: { code: ErrorCode.DEADLINE_EXCEEDED, retryable: false }, afterOutput: true } });
    expect(await server.requests[0]?.closedByClient).toBe(true);
  });

  it("gives a request that is never answered up at the deadline", async () => {
    const context = contextWith();
    server.enqueue(() => context.passDeadline());
    expect(await runAt(server.baseUrl, context)).toMatchObject({
      case: "failure",
      value: { error: { code: ErrorCode.DEADLINE_EXCEEDED }, afterOutput: false },
    });
    expect(await server.requests[0]?.closedByClient).toBe(true);
  });
});
