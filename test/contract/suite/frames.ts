import type { Readable } from "node:stream";

/** A driver ends when it is sent more, and the suite ends a driver that sends more. */
const FRAME_BYTES_MAX = 64 * 1024 * 1024;
const HEADER_BYTES = 4;

/** The bytes with their length before them: 4 bytes, big-endian. */
export function toFrame(bytes: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  frame.writeUInt32BE(bytes.length);
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

/** What lies in the frames of a stream. Errors: one that is too long, or that is cut short by the stream's end. */
export async function* readFrames(stream: Readable): AsyncGenerator<Uint8Array> {
  let chunks: Buffer[] = [];
  let length = 0;
  /** Of the next frame, header included; undefined until its header is there. */
  let size: number | undefined;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    // A large frame comes in many chunks: they are joined for its header, and once more when it is whole.
    while (length >= (size ?? HEADER_BYTES)) {
      const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length);
      chunks = [bytes];
      if (size === undefined) {
        size = HEADER_BYTES + bytes.readUInt32BE();
        if (size > HEADER_BYTES + FRAME_BYTES_MAX) throw new Error(`a frame of ${size - HEADER_BYTES} bytes, at most ${FRAME_BYTES_MAX} are allowed`);
        continue;
      }
      // A plain array: fields of bytes are cut from it.
      yield new Uint8Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, size - HEADER_BYTES);
      chunks = [bytes.subarray(size)];
      length -= size;
      size = undefined;
    }
  }
  if (length > 0) throw new Error(`the last frame is cut short after ${length} bytes`);
}
