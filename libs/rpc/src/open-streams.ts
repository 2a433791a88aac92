import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

interface OpenStream {
  readonly check: () => Promise<unknown>;
  readonly end: (refusal: ForgeError) => void;
}

/** With answers that are no older than this, a withdrawn token's streams end within 5 s. */
export const RECHECK_MS = 2_500;

const REFUSALS: ReadonlySet<ErrorCode> = new Set([ErrorCode.UNAUTHENTICATED, ErrorCode.PERMISSION_DENIED]);

/** Streams may be open for days: that their callers still may have them is asked again and again, once for all that a caller has open of a kind. */
export class OpenStreams {
  /** By caller. */
  readonly #open = new Map<string, Set<OpenStream>>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * Asks `check` from now on; where it says that the caller may not, `end` is called once. Streams with the same `caller` have the same answer, and only one of them is asked.
   * The returned function says that the stream has ended.
   */
  add(caller: string, check: () => Promise<unknown>, end: (refusal: ForgeError) => void): () => void {
    const stream = { check, end };
    const streams = this.#open.get(caller) ?? new Set();
    streams.add(stream);
    this.#open.set(caller, streams);
    this.#timer ??= setInterval(() => this.#checkAll(), RECHECK_MS).unref();
    return () => this.#remove(caller, stream);
  }

  #checkAll(): void {
    for (const [caller, streams] of this.#open) {
      const [first] = streams;
      first?.check().catch((error: unknown) => {
        // A store that can't be asked says nothing about the caller.
        if (!(error instanceof ForgeError) || !REFUSALS.has(error.code)) return;
        for (const stream of streams) {
          this.#remove(caller, stream);
          stream.end(error);
        }
      });
    }
  }

  #remove(caller: string, stream: OpenStream): void {
    const streams = this.#open.get(caller);
    streams?.delete(stream);
    if (streams?.size === 0) this.#open.delete(caller);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
