import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Connection } from "../connection.ts";
import { connect } from "./connection.ts";

const cleanup: (() => void)[] = [];

afterEach(() => {
  for (const close of cleanup.splice(0).toReversed()) close();
});

/** A connection to a server that answers by hand. */
async function answeredBy(answer: (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void): Promise<Connection> {
  const server = http2.createServer();
  server.on("stream", (stream, headers) => {
    // What this side resets fails on this side, too.
    stream.on("error", () => undefined);
    answer(stream, headers);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const connection = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}/below/`);
  cleanup.push(
    () => server.close(),
    () => connection.close(),
  );
  return connection;
}

/** Headers, then bytes, then trailers. */
function answer(stream: http2.ServerHttp2Stream, trailers: http2.OutgoingHttpHeaders, body?: Buffer): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto", "from-header": "a" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end(body);
}

const EMPTY = Buffer.alloc(5);

async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  const error = await call.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(ConnectError);
  return error as ConnectError;
}

async function drain(messages: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of messages) count++;
  return count;
}

describe("gRPC by grpc-js", () => {
  it("sends path, headers, deadline and bytes, and hands back headers and trailers", async () => {
    let seen: http2.IncomingHttpHeaders = {};
    const { transport } = await answeredBy((stream, headers) => {
      seen = headers;
      answer(stream, { "grpc-status": "0", "some-bin": Buffer.from([0, 255]).toString("base64") }, EMPTY);
    });
    const headers = { authorization: "Bearer x", "other-bin": Buffer.from([0, 254]).toString("base64") };
    const { header, trailer } = await transport.unary(SessionService.method.listSessions, undefined, 5_000, headers, {});
    expect(seen).toMatchObject({
      ":path": "/below/forge.session.v1.SessionService/ListSessions",
      authorization: "Bearer x",
      "other-bin": headers["other-bin"],
      "grpc-timeout": expect.stringMatching(/^\d+[mun]?$/i),
    });
    expect([header.get("from-header"), trailer.get("some-bin")]).toEqual(["a", "AP8="]);
  });

  it("tells of a stream that failed before anybody read it", async () => {
    const { transport } = await answeredBy((stream) => answer(stream, { "grpc-status": "9", "grpc-message": "no%21", reason: "late" }));
    const requests = (async function* () {
      yield {};
    })();
    const { message, trailer } = await transport.stream(EventService.method.subscribeEvents, undefined, undefined, undefined, requests);
    await vi.waitFor(() => expect(trailer.get("reason")).toBe("late"));
    await drain(message).then(
      (count) => expect.fail(`it ended after ${count}`),
      (error: unknown) => expect(error).toMatchObject({ code: Code.FailedPrecondition, rawMessage: "no!" }),
    );
  });

  it.each([
    ["leaves the trailers out", (stream: http2.ServerHttp2Stream) => answer(stream, {}, EMPTY), Code.Internal],
    ["sends no message", (stream: http2.ServerHttp2Stream) => answer(stream, { "grpc-status": "0" }), Code.Unimplemented],
    [
      "sends a message that is none",
      (stream: http2.ServerHttp2Stream) => answer(stream, { "grpc-status": "0" }, Buffer.from([0, 0, 0, 0, 1, 0xff])),
      Code.Internal,
    ],
    [
      "tells details that are none",
      (stream: http2.ServerHttp2Stream) => answer(stream, { "grpc-status": "5", "grpc-status-details-bin": "/w" }),
      Code.NotFound,
    ],
    ["tells a status that is none", (stream: http2.ServerHttp2Stream) => answer(stream, { "grpc-status": "99" }), Code.Unknown],
    ["resets the call", (stream: http2.ServerHttp2Stream) => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR), Code.Internal],
    ["is no gRPC", (stream: http2.ServerHttp2Stream) => stream.respond({ ":status": 404 }, { endStream: true }), Code.Unimplemented],
  ])("makes an error of a server that %s", async (_, answerWith, code) => {
    const { transport } = await answeredBy(answerWith);
    expect((await failureOf(createClient(SessionService, transport).listSessions({}))).code).toBe(code);
  });

  it("forgets a call that has ended: a signal that aborts afterwards finds nothing to cancel", async () => {
    const { transport } = await answeredBy((stream) => answer(stream, { "grpc-status": "0" }, EMPTY));
    const stop = new AbortController();
    const remove = vi.spyOn(stop.signal, "removeEventListener");
    await createClient(SessionService, transport).listSessions({}, { signal: stop.signal });
    await drain(createClient(EventService, transport).subscribeEvents({}, { signal: stop.signal }));
    expect(remove).toHaveBeenCalledTimes(2);
  });
});
