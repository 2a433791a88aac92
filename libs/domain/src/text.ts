const encoder = new TextEncoder();

/** Bytes of the text in UTF-8. */
export function utf8Length(text: string): number {
  return encoder.encode(text).byteLength;
}

/** The text's first characters, at most `max` UTF-16 code units, never half a surrogate pair. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? max - 1 : max);
}

/** The longest beginning of the text whose JSON string takes at most `bytes` bytes of UTF-8, and whether something was left out. */
export function shortenToJsonBytes(text: string, bytes: number): { readonly text: string; readonly shortened: boolean } {
  if (utf8Length(JSON.stringify(text)) <= bytes) return { text, shortened: false };
  let low = 0;
  let high = Math.min(text.length, bytes);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (utf8Length(JSON.stringify(shorten(text, middle))) <= bytes) low = middle;
    else high = middle - 1;
  }
  return { text: shorten(text, low), shortened: true };
}

/** Whether all characters are visible ASCII: neither blank nor control, no more than a wire header or a route can carry. */
export function isVisibleAscii(text: string): boolean {
  return /^[!-~]+$/.test(text);
}

/** Whether databases and wires carry the text unchanged: no NUL, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}
