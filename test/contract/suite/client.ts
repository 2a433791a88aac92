import type { DescMethodServerStreaming, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ForgeError } from "@forge/protocol";

/** How a call is made through a driver. */
export interface SuiteCall {
  /** From now on, milliseconds. */
  readonly timeoutMs?: number;
  /** Gives the call up, as a person does who has lost interest. */
  readonly signal?: AbortSignal;
}

/** What came of a call: an rpc's error is an outcome. A driver that could not make the call makes it reject with a DriverFailure. */
export type Outcome<T> = { readonly response: T; readonly error?: undefined } | { readonly response?: undefined; readonly error: ForgeError };

/** What the next read of a stream finds: a message, or how the stream ended; without an error: in peace. */
export type StreamRead<T> = { readonly message: T } | { readonly message?: undefined; readonly error?: ForgeError };

/** A server's stream. The driver reads no further than it is asked to. */
export interface SuiteStream<T> {
  next(): Promise<StreamRead<T>>;
  /** Gives it up; its end still comes from next(). */
  cancel(): void;
}

/** One client of the implementation under test, in its driver's process. */
export interface SuiteClient {
  /** retry: by the client's own retry of what failed in transit, with the same command id. */
  call<M extends DescMethodUnary>(
    method: M,
    request: MessageInitShape<M["input"]>,
    options?: SuiteCall & { readonly retry?: boolean },
  ): Promise<Outcome<MessageShape<M["output"]>>>;
  /** resume: by the client's own subscription that reconnects by itself; only of SubscribeEvents. ahead: messages read before next() asks for them; absent: 64. */
  open<M extends DescMethodServerStreaming>(
    method: M,
    request: MessageInitShape<M["input"]>,
    options?: SuiteCall & { readonly resume?: boolean; readonly ahead?: number },
  ): SuiteStream<MessageShape<M["output"]>>;
  close(): Promise<void>;
}
