import type { Writable } from "node:stream";
import type { JsonObject } from "@bufbuild/protobuf";
import { toLine } from "@forge/client";

/** Writes an object a line, and tells when its reader is behind. */
export class LineOutput {
  readonly #stream: Writable;
  readonly #waiting = new Set<() => void>();

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on("drain", () => {
      for (const resolve of this.#waiting) resolve();
    });
  }

  /** False, and nothing is written, where the line would be longer than the bytes that are given. */
  write(json: JsonObject, bytesMax = Number.POSITIVE_INFINITY): boolean {
    const line = Buffer.from(`${toLine(json)}\n`);
    if (line.length > bytesMax) return false;
    this.#stream.write(line);
    return true;
  }

  /** Resolves when more may be written without keeping it in memory, or when the signal aborts: the reader may never be ready. */
  async ready(signal: AbortSignal): Promise<void> {
    if (!this.#stream.writableNeedDrain || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const go = (): void => resolve();
    this.#waiting.add(go);
    signal.addEventListener("abort", go);
    await promise;
    this.#waiting.delete(go);
    signal.removeEventListener("abort", go);
  }
}
