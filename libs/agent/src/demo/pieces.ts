/** Characters of a piece at most, so that scripts without spaces stream as well. */
const PIECE_CHARACTERS_MAX = 12;

/** A text in the small pieces that it is streamed in: words with the space after them, never half a character. */
export function inPieces(text: string): string[] {
  return text.match(new RegExp(`\\S{1,${PIECE_CHARACTERS_MAX}}\\s*|\\s+`, "gu")) ?? [];
}
