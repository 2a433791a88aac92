import truncatedWidth from "fast-string-truncated-width";

// Escape sequences, control characters, and what turns the direction of writing: a model or a tool must not move the reader's cursor.
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const UNSAFE = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;
// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const ESCAPE_SEQUENCE = /\u001B(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g;

/** A foreign text as a terminal may be shown it: line feeds and tabs stay, other control characters go. */
export function safeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(ESCAPE_SEQUENCE, "").replaceAll(UNSAFE, "");
}

/** A foreign text on one line: white space of any length becomes one space. */
export function oneLine(text: string): string {
  return safeText(text.replaceAll(/\s+/g, " ")).trim();
}

/** Columns that a text takes on a terminal; colours take none, wide characters two. */
export function widthOf(text: string): number {
  return truncatedWidth(text).width;
}

const RESET = "\u001B[0m";

/** At most so many columns, with an ellipsis where something was left out, and without a colour that runs on. */
export function cut(text: string, columns: number): string {
  const { index, ellipsed } = truncatedWidth(text, { limit: Math.max(1, columns), ellipsis: "…", ellipsisWidth: 1 });
  if (!ellipsed) return text.slice(0, index);
  // The index is one too large after some characters.
  let end = index;
  while (end > 0 && widthOf(text.slice(0, end)) > columns - 1) end--;
  if (/[\uD800-\uDBFF]$/.test(text.slice(0, end))) end--;
  return `${text.slice(0, end)}…${text.includes("\u001B") ? RESET : ""}`;
}

/** The end of a text, at most so many columns, with an ellipsis where something was left out. */
export function cutStart(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const characters = Array.from(text).slice(-columns);
  while (characters.length > 0 && widthOf(characters.join("")) > columns - 1) characters.shift();
  return `…${characters.join("")}`;
}

/** Filled up with spaces to so many columns. */
export function pad(text: string, columns: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, columns - widthOf(text)));
  return align === "left" ? text + space : space + text;
}

/** A line over as many as it needs, broken between words; those after the first are indented. A word that is too long stays whole. */
export function wrapWords(line: string, columns: number, indent: string): string[] {
  if (widthOf(line) <= columns) return [line];
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(/(?<=\S)(?= )/)) {
    if (current !== "" && widthOf(current + word) > columns) {
      lines.push(current);
      current = indent + word.trimStart();
    } else current += word;
  }
  return [...lines, current];
}
