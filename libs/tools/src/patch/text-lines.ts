/** How a line of a file ends; a last line may end without anything. */
export type LineEnd = "\n" | "\r\n" | "";

/** A line of a file. */
export interface TextLine {
  readonly text: string;
  readonly end: LineEnd;
}

/** The lines of a text; none of an empty one. A carriage return that stands alone is part of its line. */
export function splitLines(text: string): TextLine[] {
  const lines: TextLine[] = [];
  let start = 0;
  while (start < text.length) {
    const feed = text.indexOf("\n", start);
    if (feed < 0) {
      lines.push({ text: text.slice(start), end: "" });
      break;
    }
    const isPair = feed > start && text[feed - 1] === "\r";
    lines.push({ text: text.slice(start, isPair ? feed - 1 : feed), end: isPair ? "\r\n" : "\n" });
    start = feed + 1;
  }
  return lines;
}

export function joinLines(lines: readonly TextLine[]): string {
  return lines.map(({ text, end }) => text + end).join("");
}

/** How a new line ends at an index of a file: as the one before it, or after it, or like most. */
export function lineEndAt(lines: readonly TextLine[], index: number): Exclude<LineEnd, ""> {
  for (const near of [lines[index - 1]?.end, lines[index]?.end]) if (near === "\n" || near === "\r\n") return near;
  const pairs = lines.filter(({ end }) => end === "\r\n").length;
  return pairs * 2 > lines.length ? "\r\n" : "\n";
}
