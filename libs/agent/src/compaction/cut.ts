const ENCODER = new TextEncoder();

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).replaceAll(/^\ufffd+|\ufffd+$/g, "");
}

/** A text of at most so many bytes: what is too long loses its middle, with a mark that says how much. */
export function cutMiddle(text: string, bytesMax: number): string {
  const bytes = ENCODER.encode(text);
  if (bytes.length <= bytesMax) return text;
  const mark = (left: number): string => `\n[${left} bytes left out]\n`;
  const room = Math.max(0, bytesMax - byteLength(mark(bytes.length)));
  const head = Math.ceil(room * 0.6);
  const tail = room - head;
  return `${decode(bytes.subarray(0, head))}${mark(bytes.length - room)}${decode(bytes.subarray(bytes.length - tail))}`;
}
