import type { Client, Metadata, StatusObject } from "@grpc/grpc-js";
import { asItIs, type EncodedCall, type Track } from "./call.ts";
import { toHeaders } from "./metadata.ts";
import { toConnectError } from "./status.ts";

export interface StreamAnswer {
  readonly header: Headers;
  /** Filled when the messages have ended. */
  readonly trailer: Headers;
  /** Cancels the call when its reader leaves early. */
  readonly messages: AsyncIterable<Buffer>;
}

/** Makes a call that is answered by a stream; resolves when its headers are there. Errors: ConnectError, here or amid the messages. */
export async function callServerStream(client: Client, { path, bytes, metadata, options }: EncodedCall, track: Track): Promise<StreamAnswer> {
  const call = client.makeServerStreamRequest(path, asItIs, asItIs, bytes, metadata, options);
  const trailer = new Headers();
  let failure: unknown;
  // A stream that failed before anybody read it would look like one that ended.
  call.on("error", (error) => {
    failure = error;
  });
  const release = track(call);
  const header = Promise.withResolvers<Headers>();
  call.once("metadata", (value: Metadata) => header.resolve(toHeaders(value)));
  call.on("status", (status: StatusObject) => {
    release();
    for (const [name, value] of toHeaders(status.metadata)) trailer.append(name, value);
    // One that is refused at once has no headers.
    if (failure === undefined) header.resolve(new Headers());
    else header.reject(toConnectError(failure));
  });
  async function* messages(): AsyncGenerator<Buffer> {
    try {
      for await (const message of call) yield message as Buffer;
    } catch (error) {
      throw toConnectError(error);
    } finally {
      call.cancel();
    }
    if (failure !== undefined) throw toConnectError(failure);
  }
  return { header: await header.promise, trailer, messages: messages() };
}
