/** A line without its end, or why there is none. */
export type Line = { readonly kind: "text"; readonly text: string; readonly bytes: number } | { readonly kind: "tooLong" } | { readonly kind: "notUtf8" };

const NEWLINE = 0x0a;

/**
 * The lines of a stream of bytes, however these are cut; the last one may lack its end. One of more than `bytesMax` bytes is passed over and told once; no more
 * than that is ever kept.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Line> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  let isSkipping = false;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const last = chunk.subarray(start, end);
      start = end + 1;
      if (!isSkipping) yield bytes + last.length > bytesMax ? { kind: "tooLong" } : decode([...parts, last]);
      isSkipping = false;
      parts = [];
      bytes = 0;
    }
    if (isSkipping || start === chunk.length) continue;
    const rest = chunk.subarray(start);
    bytes += rest.length;
    if (bytes <= bytesMax) parts.push(rest);
    else {
      yield { kind: "tooLong" };
      isSkipping = true;
      parts = [];
    }
  }
  if (parts.length > 0) yield decode(parts);
}

function decode(parts: readonly Uint8Array[]): Line {
  const bytes = Buffer.concat(parts);
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), bytes: bytes.length };
  } catch {
    // The only way in which decoding fails.
    return { kind: "notUtf8" };
  }
}
