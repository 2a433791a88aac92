import { cut } from "../output/text.ts";

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const HIDDEN = /[\u0000-\u0008\u000A-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/g;
const TAB = "    ";

/** A line with nothing hidden in it: control characters as their pictures, what turns the direction of writing or takes no room as `�`. Whoever decides on a line sees what it is. */
export function visibleText(line: string, columns: number): string {
  const shown = line.replaceAll("\t", TAB).replaceAll(HIDDEN, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\uFFFD";
  });
  return cut(shown, columns);
}
