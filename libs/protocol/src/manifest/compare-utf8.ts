/** Surrogates stand for characters beyond all others, though their units come before those from U+E000 on. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

/** The order of two texts by their UTF-8 bytes, as the sign of a number. */
export function compareUtf8(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const [left, right] = [one.charCodeAt(index), other.charCodeAt(index)];
    if (left !== right) return rank(left) - rank(right);
  }
  return one.length - other.length;
}
