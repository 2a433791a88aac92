/** Characters that nobody sees and a model reads: tags, marks of direction, and those of no width that no script needs. */
const INVISIBLE = /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff]/gu;

/** A text that says to a model what it says to people, and how many characters were taken out for that. */
export function visibleText(text: string): { readonly text: string; readonly takenOut: number } {
  const found = text.match(INVISIBLE);
  return found === null ? { text, takenOut: 0 } : { text: text.replaceAll(INVISIBLE, ""), takenOut: found.length };
}
