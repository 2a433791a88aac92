/** The first characters of a text, at most `lengthMax` (UTF-16 code units), never half of a surrogate pair. */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const last = text.charCodeAt(lengthMax - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? lengthMax - 1 : lengthMax);
}

/** A text as one line for people: characters that would end it or move a reader's cursor are shown as `?`; at most `lengthMax`. */
export function oneLine(text: string, lengthMax: number): string {
  return cutText(text.replaceAll(/\p{Cc}/gu, "?"), lengthMax);
}

/** The last characters of a text, at most `lengthMax` (UTF-16 code units), never half of a surrogate pair. */
export function textEnd(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const start = text.length - lengthMax;
  const first = text.charCodeAt(start);
  return text.slice(first >= 0xdc00 && first < 0xe000 ? start + 1 : start);
}
