/** Bytes of UTF-8 that stand for a token. Models make three to four of prose and fewer of code: rather too many tokens than too few. */
const BYTES_PER_TOKEN = 3;

/** About how many tokens a text is. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** The bytes that fit into a number of tokens. */
export function bytesOfTokens(tokens: number): number {
  return Math.max(0, Math.floor(tokens)) * BYTES_PER_TOKEN;
}

/** The whole lines at the beginning of a text that fit into a number of bytes of UTF-8. */
export function cutLines(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  // One byte more tells whether the cut is at the end of a line; a character that is cut in two stands behind the last line feed and goes with it.
  const head = Buffer.from(text)
    .subarray(0, Math.max(0, bytesMax) + 1)
    .toString("latin1");
  const end = head.lastIndexOf("\n");
  return end <= 0 ? "" : Buffer.from(head.slice(0, end), "latin1").toString("utf8");
}
