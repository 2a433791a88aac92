/** What is kept of a stream. */
export interface CapturedOutput {
  /** UTF-8 decoded, invalid bytes as U+FFFD; where bytes were left out, a line in the middle says how many. */
  readonly text: string;
  /** All bytes that the stream carried. */
  readonly bytes: number;
  /** How many of them `text` does not show. */
  readonly omittedBytes: number;
}

/** Keeps the first and the last bytes of a stream, half of the bound each, in memory of at most twice the bound. */
export class BoundedOutput {
  readonly #half: number;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #bytes = 0;

  /** `bytesMax` is what is shown at most, in bytes of the stream. */
  constructor(bytesMax: number) {
    this.#half = Math.floor(bytesMax / 2);
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const room = this.#half - this.#headBytes;
    if (room > 0) {
      const first = chunk.subarray(0, room);
      this.#head.push(Buffer.from(first));
      this.#headBytes += first.length;
    }
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest.subarray(Math.max(0, rest.length - this.#half))));
    this.#tailBytes += Math.min(rest.length, this.#half);
    // Compacting only now and then keeps the cost per byte constant.
    if (this.#tailBytes > 2 * this.#half) this.#compact();
  }

  captured(): CapturedOutput {
    this.#compact();
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (head.length + tail.length === this.#bytes) {
      return { text: decode(Buffer.concat([head, tail])), bytes: this.#bytes, omittedBytes: 0 };
    }
    const headEnd = completeLength(head);
    const tailStart = firstCharacter(tail);
    const omittedBytes = this.#bytes - headEnd - (tail.length - tailStart);
    const text = `${decode(head.subarray(0, headEnd))}\n[${omittedBytes} bytes left out]\n${decode(tail.subarray(tailStart))}`;
    return { text, bytes: this.#bytes, omittedBytes };
  }

  #compact(): void {
    const tail = Buffer.concat(this.#tail);
    this.#tail = [tail.subarray(Math.max(0, tail.length - this.#half))];
    this.#tailBytes = Math.min(tail.length, this.#half);
  }
}

function decode(bytes: Buffer): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** The length without a UTF-8 sequence that was cut at the end. */
function completeLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first whole UTF-8 sequence begins. */
function firstCharacter(bytes: Buffer): number {
  let start = 0;
  while (start < Math.min(3, bytes.length) && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return start;
}
