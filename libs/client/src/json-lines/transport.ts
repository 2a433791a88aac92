import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  fromJson,
  type JsonValue,
  type MessageInitShape,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type StreamResponse, type Transport, type UnaryResponse } from "@connectrpc/connect";
import { givenUp } from "../cancelled.ts";
import { Deadline } from "../deadline.ts";
import { onlyOne } from "../transports/only-one.ts";
import type { JsonLinesConnection } from "./connection.ts";
import { MessageQueue } from "./message-queue.ts";

/** Connect's transport over lines of JSON. There are no headers: who calls is who started the process. Errors are ForgeErrors. */
export class JsonLinesTransport implements Transport {
  readonly #connection: JsonLinesConnection;
  readonly #closed: AbortSignal;

  constructor(connection: JsonLinesConnection, closed: AbortSignal) {
    this.#connection = connection;
    this.#closed = closed;
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    _header: unknown,
    input: MessageInitShape<I>,
  ): Promise<UnaryResponse<I, O>> {
    const params = encode(method, input);
    const answer = Promise.withResolvers<JsonValue>();
    const end = this.#limit(signal, timeoutMs, answer.reject, () =>
      this.#connection.call(nameOf(method), params, {
        isStream: false,
        onResult: answer.resolve,
        onMessage: () => answer.reject(new ConnectError("a stream came where an answer was to come", Code.Internal)),
        onEnd: answer.reject,
      }),
    );
    try {
      const message = decode(method, await answer.promise);
      return { stream: false, service: method.parent, method, header: new Headers(), trailer: new Headers(), message };
    } finally {
      end();
    }
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    _header: unknown,
    input: AsyncIterable<MessageInitShape<I>>,
  ): Promise<StreamResponse<I, O>> {
    if (method.methodKind !== "server_streaming") throw new ConnectError(`${method.name} streams requests, which this transport can't`, Code.Unimplemented);
    const params = encode(method, await onlyOne(input));
    const queue = new MessageQueue<JsonValue>();
    const end = this.#limit(
      signal,
      timeoutMs,
      (error) => queue.end(error),
      () =>
        this.#connection.call(nameOf(method), params, {
          isStream: true,
          onResult: () => undefined,
          onMessage: (message, bytes) => queue.push(message, bytes),
          onEnd: (error) => queue.end(error),
        }),
    );
    const message = (async function* () {
      try {
        for await (const json of queue.read()) yield decode(method, json);
      } finally {
        end();
      }
    })();
    return { stream: true, service: method.parent, method, header: new Headers(), trailer: new Headers(), message };
  }

  /** Begins a call and gives it up when its signal aborts, its time is over or the client is closed. The returned function ends it, whatever it still does. */
  #limit(signal: AbortSignal | undefined, timeoutMs: number | undefined, fail: (error: Error) => void, begin: () => () => void): () => void {
    const deadline = timeoutMs === undefined ? undefined : new Deadline(timeoutMs);
    const cancel = begin();
    const stops = [signal, this.#closed].filter((stop) => stop !== undefined);
    const giveUp = (): void => {
      fail(givenUp());
      end();
    };
    const timeOut = (): void => {
      fail(deadline?.signal.reason as Error);
      end();
    };
    const end = (): void => {
      deadline?.clear();
      deadline?.signal.removeEventListener("abort", timeOut);
      for (const stop of stops) stop.removeEventListener("abort", giveUp);
      cancel();
    };
    deadline?.signal.addEventListener("abort", timeOut);
    for (const stop of stops) stop.addEventListener("abort", giveUp);
    if (stops.some((stop) => stop.aborted)) giveUp();
    return end;
  }
}

function nameOf(method: DescMethod): string {
  return `${method.parent.name}.${method.name}`;
}

function encode<I extends DescMessage>(method: DescMethod & { readonly input: I }, init: MessageInitShape<I>): JsonValue {
  return toJson(method.input, create(method.input, init), { useProtoFieldName: true });
}

/** What this side does not know, of a newer server, is passed over. */
function decode<O extends DescMessage>(method: DescMethod & { readonly output: O }, json: JsonValue): MessageShape<O> {
  return fromJson(method.output, json, { ignoreUnknownFields: true });
}
