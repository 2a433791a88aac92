import type { Client, Metadata, StatusObject } from "@grpc/grpc-js";
import { asItIs, type EncodedCall, type Track } from "./call.ts";
import { toHeaders } from "./metadata.ts";
import { toConnectError } from "./status.ts";

export interface UnaryAnswer {
  readonly header: Headers;
  readonly trailer: Headers;
  readonly bytes: Buffer;
}

/** Makes one call. Errors: ConnectError. */
export function callUnary(client: Client, { path, bytes, metadata, options }: EncodedCall, track: Track): Promise<UnaryAnswer> {
  return new Promise((resolve, reject) => {
    let header: Metadata | undefined;
    let answer: Buffer | undefined;
    const call = client.makeUnaryRequest(path, asItIs, asItIs, bytes, metadata, options, (error, value) => {
      if (error !== null) reject(toConnectError(error));
      answer = value;
    });
    call.on("metadata", (value: Metadata) => {
      header = value;
    });
    const release = track(call);
    // It comes last, whatever came before.
    call.on("status", (status: StatusObject) => {
      release();
      if (answer !== undefined) resolve({ header: toHeaders(header), trailer: toHeaders(status.metadata), bytes: answer });
    });
  });
}
