import type { CallOptions, Metadata } from "@grpc/grpc-js";

/** A request as it goes over the wire. */
export interface EncodedCall {
  /** /package.Service/Method */
  readonly path: string;
  readonly bytes: Buffer;
  readonly metadata: Metadata;
  readonly options: CallOptions;
}

/** A call that is under way. */
export interface Cancellable {
  cancel(): void;
}

/** Says that a call is under way; the returned function says that it has ended. */
export type Track = (call: Cancellable) => () => void;

/** Messages are encoded and decoded elsewhere. */
export function asItIs(bytes: Buffer): Buffer {
  return bytes;
}
