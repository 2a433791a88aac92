import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type StreamResponse, type Transport, type UnaryResponse } from "@connectrpc/connect";
import type { CallOptions, Client } from "@grpc/grpc-js";
import { onlyOne } from "../only-one.ts";
import type { Cancellable } from "./call.ts";
import { type HeaderFields, toMetadata } from "./metadata.ts";
import { callServerStream } from "./server-stream.ts";
import { callUnary } from "./unary.ts";

/** Connect's transport over a client of grpc-js: messages are encoded here, by the same descriptors as everywhere. Unary calls and streams of answers. */
export class GrpcJsTransport implements Transport {
  readonly #client: Client;
  readonly #pathPrefix: string;
  readonly #open = new Set<Cancellable>();

  constructor(client: Client, pathPrefix: string) {
    this.#client = client;
    this.#pathPrefix = pathPrefix;
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderFields,
    input: MessageInitShape<I>,
  ): Promise<UnaryResponse<I, O>> {
    const call = { path: this.#path(method), bytes: encode(method, input), metadata: toMetadata(header), options: callOptions(timeoutMs) };
    const answer = await callUnary(this.#client, call, (open) => this.#track(open, signal));
    const message = decode(method, answer.bytes);
    return { stream: false, service: method.parent, method, header: answer.header, trailer: answer.trailer, message };
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderFields,
    input: AsyncIterable<MessageInitShape<I>>,
  ): Promise<StreamResponse<I, O>> {
    if (method.methodKind !== "server_streaming") throw new ConnectError(`${method.name} streams requests, which this transport can't`, Code.Unimplemented);
    const request = await onlyOne(input);
    const call = { path: this.#path(method), bytes: encode(method, request), metadata: toMetadata(header), options: callOptions(timeoutMs) };
    const answer = await callServerStream(this.#client, call, (open) => this.#track(open, signal));
    const message = (async function* () {
      for await (const bytes of answer.messages) yield decode(method, bytes);
    })();
    return { stream: true, service: method.parent, method, header: answer.header, trailer: answer.trailer, message };
  }

  cancelAll(): void {
    for (const call of this.#open) call.cancel();
  }

  /** Cancels a call when its signal aborts, until the returned function is called. */
  #track(call: Cancellable, signal: AbortSignal | undefined): () => void {
    const cancel = (): void => call.cancel();
    this.#open.add(call);
    signal?.addEventListener("abort", cancel);
    if (signal?.aborted === true) cancel();
    return () => {
      this.#open.delete(call);
      signal?.removeEventListener("abort", cancel);
    };
  }

  #path(method: DescMethod): string {
    return `${this.#pathPrefix}/${method.parent.typeName}/${method.name}`;
  }
}

function callOptions(timeoutMs: number | undefined): CallOptions {
  return timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
}

function encode<I extends DescMessage>(method: DescMethod & { readonly input: I }, init: MessageInitShape<I>): Buffer {
  const bytes = toBinary(method.input, create(method.input, init));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function decode<O extends DescMessage>(method: DescMethod & { readonly output: O }, bytes: Buffer): MessageShape<O> {
  try {
    return fromBinary(method.output, bytes);
  } catch (error) {
    throw new ConnectError(`the answer of ${method.name} can't be read`, Code.Internal, undefined, undefined, error);
  }
}
