import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

interface OpenStream {
  readonly check: () => Promise<unknown>;
  readonly end: (refusal: ForgeError) => void;
}

/** With answers that are no older than this, a withdrawn token's streams end within 5 s. */
export const RECHECK_MS = 2_500;

const REFUSALS: ReadonlySet<ErrorCode> = new Set([ErrorCode.UNAUTHENTICATED, ErrorCode.PERMISSION_DENIED]);

/** Streams may be open for days: that their callers still may have them is asked again and again. */
export class OpenStreams {
  readonly #open = new Set<OpenStream>();
  #timer: NodeJS.Timeout | undefined;

  /** Calls `check` from now on; where it says that the caller may not, `end` is called once. The returned function says that the stream has ended. */
  add(check: () => Promise<unknown>, end: (refusal: ForgeError) => void): () => void {
    const stream = { check, end };
    this.#open.add(stream);
    this.#timer ??= setInterval(() => this.#checkAll(), RECHECK_MS).unref();
    return () => this.#remove(stream);
  }

  #checkAll(): void {
    for (const stream of this.#open) {
      stream.check().catch((error: unknown) => {
        // A store that can't be asked says nothing about the caller.
        if (!(error instanceof ForgeError) || !REFUSALS.has(error.code) || !this.#open.has(stream)) return;
        this.#remove(stream);
        stream.end(error);
      });
    }
  }

  #remove(stream: OpenStream): void {
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
