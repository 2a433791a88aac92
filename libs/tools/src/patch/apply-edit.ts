import type { PatchedText } from "./apply-hunks.ts";
import { requireKnownCharacters } from "./known-characters.ts";
import { patchError, quotedLine } from "./patch-error.ts";

/** A text that takes the place of another one in a file. */
export interface Edit {
  readonly search: string;
  readonly replace: string;
  /** Every occurrence; else there must be exactly one. */
  readonly all: boolean;
}

/** Lines that a message names. */
const PLACES_MAX = 5;

/**
 * A text with an edit applied. Line ends of both are taken as equal where they are compared, and new lines end like those that they take the place of, or as
 * their neighbours do. Errors: validation, PATCH_MISMATCH, PATCH_AMBIGUOUS.
 */
export function applyEdit({ path, text, encoding }: PatchedText, edit: Edit, number: number): string {
  const where = `${path}: edit ${number}`;
  const [search, replace] = [withFeeds(edit.search), withFeeds(edit.replace)];
  requireKnownCharacters(encoding, search, replace, where);
  const plain = withFeeds(text);
  const found = occurrences(plain, search, edit.all);
  if (found.length === 0)
    throw patchError("MISMATCH", where, `the file does not have the text that begins with ${quotedLine(firstLine(search))}${hint(plain, search)}`);
  if (found.length > 1 && !edit.all) {
    const lines = found.slice(0, PLACES_MAX).map((at) => lineOf(plain, at));
    throw patchError(
      "AMBIGUOUS",
      where,
      `the file has the text that begins with ${quotedLine(firstLine(search))} ${found.length} times, at lines ${lines.join(", ")}: give more of it, or all`,
    );
  }
  if (plain.length === text.length) return spliced(text, found, search.length, () => replace);
  const offsets = pairOffsets(text);
  const toText = (at: number): number => at + countBelow(offsets, at);
  const places = found.map((at) => ({ start: toText(at), end: toText(at + search.length) }));
  let result = "";
  let last = 0;
  for (const { start, end } of places) {
    result += text.slice(last, start) + withEndsOf(replace, text, start, end);
    last = end;
  }
  return result + text.slice(last);
}

function withFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Where a text is in another one; each place that it could be at, or with `all` those that don't overlap. */
function occurrences(text: string, search: string, all: boolean): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(search); at >= 0; at = text.indexOf(search, at + (all ? search.length : 1))) found.push(at);
  return found;
}

function spliced(text: string, found: readonly number[], length: number, replacement: () => string): string {
  const pieces: string[] = [];
  let last = 0;
  for (const at of found) {
    pieces.push(text.slice(last, at), replacement());
    last = at + length;
  }
  return pieces.join("") + text.slice(last);
}

/** For each pair of carriage return and line feed, where its line feed is once all pairs before it and it itself are line feeds. */
function pairOffsets(text: string): number[] {
  const offsets: number[] = [];
  for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) offsets.push(at - offsets.length);
  return offsets;
}

/** How many of the ascending numbers are below one. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The replacement with the line ends of what it takes the place of, in order, and after those with the ones of its surroundings. */
function withEndsOf(replace: string, text: string, start: number, end: number): string {
  const replaced = text.slice(start, end).match(/\r?\n/g) ?? [];
  const near = endAt(text, text.indexOf("\n", end)) ?? endAt(text, text.lastIndexOf("\n", start)) ?? "\n";
  let index = 0;
  return replace.replaceAll("\n", () => replaced[index++] ?? replaced.at(-1) ?? near);
}

/** The line end whose line feed is at an index; undefined where there is none. */
function endAt(text: string, feed: number): string | undefined {
  if (feed < 0) return undefined;
  return text[feed - 1] === "\r" ? "\r\n" : "\n";
}

function lineOf(text: string, at: number): number {
  let line = 1;
  for (let feed = text.indexOf("\n"); feed >= 0 && feed < at; feed = text.indexOf("\n", feed + 1)) line++;
  return line;
}

function firstLine(text: string): string {
  return text.split("\n").find((line) => line.trim() !== "") ?? text;
}

/** What of the text is there, where its first line is. */
function hint(text: string, search: string): string {
  const wanted = firstLine(search).trim();
  const lines = text.split("\n");
  const at = wanted === "" ? -1 : lines.findIndex((line) => line.trim() === wanted);
  if (at < 0) return "";
  const exact = search.split("\n");
  const first = exact.findIndex((line) => line.trim() === wanted);
  const differing = exact.findIndex((line, index) => index >= first && lines[at + index - first] !== line);
  if (differing < 0) return "";
  return `; near line ${at + 1}: it should have ${quotedLine(exact[differing] as string)} and has ${quotedLine(lines[at + differing - first] ?? "its end")}`;
}
