/** Characters as Python counts them: a pair of surrogates is one. */
export function codePointCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const isPair = (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
    if (isPair) count--;
  }
  return count;
}

/** The UTF-16 offset of a code point's index; a negative index counts from the end. */
export function unitOffset(text: string, index: number): number {
  let remaining = index < 0 ? Math.max(0, codePointCount(text) + index) : index;
  let unit = 0;
  for (; remaining > 0 && unit < text.length; remaining--) unit += (text.codePointAt(unit) as number) > 0xffff ? 2 : 1;
  // Behind the end nothing is found, not even the empty text.
  return remaining > 0 ? text.length + 1 : unit;
}
