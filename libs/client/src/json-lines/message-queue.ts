import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** What a reader may be behind, in bytes of JSON. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

interface Waiting<T> {
  readonly message: T;
  readonly bytes: number;
}

/**
 * The messages of one stream that have come and were not read yet. One pipe carries all streams, so a slow reader must not stop it, nor may what waits for him
 * grow without end: he is ended alone, with `resource_exhausted`.
 */
export class MessageQueue<T> {
  readonly #waiting: Waiting<T>[] = [];
  #bytes = 0;
  #end: { readonly error: Error | undefined } | undefined;
  #wake = Promise.withResolvers<void>();

  push(message: T, bytes: number): void {
    if (this.#end !== undefined) return;
    if (this.#bytes > 0 && this.#bytes + bytes > WAITING_BYTES_MAX) {
      const message = `the reader of this stream is more than ${WAITING_BYTES_MAX} bytes behind: subscribe again from the last event that was handled`;
      this.end(new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, message, { reason: "SLOW_SUBSCRIBER", origin: "client" }));
      return;
    }
    this.#waiting.push({ message, bytes });
    this.#bytes += bytes;
    this.#wake.resolve();
  }

  /** Nothing more comes; what waits is read first. The first end counts. */
  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake.resolve();
  }

  async *read(): AsyncGenerator<T> {
    for (;;) {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        this.#bytes -= next.bytes;
        yield next.message;
      }
      if (this.#end?.error !== undefined) throw this.#end.error;
      if (this.#end !== undefined) return;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }
}
