/** A frame is its payload's length (4 bytes, big endian), one byte that says what it is, and the payload. */
const HEADER_BYTES = 5;

/** What an artifact may hold, and so a function's inputs or result; plus the names around it. */
const PAYLOAD_BYTES_MAX = 16 * 1024 * 1024 + 64 * 1024;

/** Whether the other side would not take it. */
export function isTooLarge(payload: string): boolean {
  return payload.length > PAYLOAD_BYTES_MAX || (payload.length * 3 > PAYLOAD_BYTES_MAX && Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX);
}

/** `kind` is one ASCII character. */
export function encodeFrame(kind: string, payload: string): Buffer {
  const length = Buffer.byteLength(payload);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.writeUInt32BE(length, 0);
  frame[4] = kind.charCodeAt(0);
  frame.write(payload, HEADER_BYTES, "utf8");
  return frame;
}

/** Cuts a byte stream into frames, however it arrives. Throws for a frame that is longer than allowed; the stream is useless then. */
export function frameReader(onFrame: (kind: string, payload: string) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let buffered = 0;
  let wanted = HEADER_BYTES;
  return (chunk) => {
    pieces.push(chunk);
    buffered += chunk.length;
    // Joined only once a frame is complete: a large frame arrives in many chunks.
    if (buffered < wanted) return;
    let bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    for (;;) {
      wanted = HEADER_BYTES;
      if (bytes.length < wanted) break;
      const length = bytes.readUInt32BE(0);
      if (length > PAYLOAD_BYTES_MAX) throw new Error(`a frame of ${length} bytes`);
      wanted = HEADER_BYTES + length;
      if (bytes.length < wanted) break;
      onFrame(String.fromCharCode(bytes[4] as number), bytes.toString("utf8", HEADER_BYTES, wanted));
      bytes = bytes.subarray(wanted);
    }
    pieces = bytes.length === 0 ? [] : [bytes];
    buffered = bytes.length;
  };
}
