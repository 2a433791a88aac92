import type { Encoding } from "../workspace/text-content.ts";
import { requireKnownCharacters } from "./known-characters.ts";
import type { Hunk, HunkLine } from "./parse-unified-diff.ts";
import { patchError, quotedLine } from "./patch-error.ts";
import { joinLines, type LineEnd, lineEndAt, splitLines, type TextLine } from "./text-lines.ts";

/** How many lines a hunk may be away from where its header says. */
const OFFSET_MAX = 100;
/** Places that a message names. */
const PLACES_MAX = 5;

/** What is patched, for messages and rules. */
export interface PatchedText {
  readonly path: string;
  readonly text: string;
  readonly encoding: Encoding;
}

/**
 * A text with hunks applied. Every line that a hunk names as context or as removed must be there; a hunk may be a little away from where it says, if there is
 * one such place only. A patch without carriage returns fits a file with them: new lines end as their neighbours do, and a last line that has no newline
 * keeps having none unless the patch says otherwise. Errors: validation, PATCH_MISMATCH, PATCH_AMBIGUOUS, PATCH_MALFORMED.
 */
export function applyHunks({ path, text, encoding }: PatchedText, hunks: readonly Hunk[]): string {
  const lines = splitLines(text);
  const result: TextLine[] = [];
  let consumed = 0;
  let drift = 0;
  for (const [index, hunk] of hunks.entries()) {
    const where = `${path}: hunk ${index + 1} (${hunk.header})`;
    requireKnownCharacters(encoding, oldLines(hunk).map(textOf).join("\n"), addedLines(hunk).map(textOf).join("\n"), where);
    const at = place(lines, hunk, hunk.oldStart - 1 + drift, consumed, where);
    drift = oldLines(hunk).length === 0 ? drift : at - (hunk.oldStart - 1);
    result.push(...lines.slice(consumed, at));
    consumed = at + oldLines(hunk).length;
    result.push(...replacement(lines, at, hunk, consumed === lines.length, where));
  }
  result.push(...lines.slice(consumed));
  return joinLines(result.map((line, index) => (line.end === "" && index < result.length - 1 ? { text: line.text, end: lineEndAt(result, index) } : line)));
}

function oldLines({ lines }: Hunk): HunkLine[] {
  return lines.filter(({ kind }) => kind !== "add");
}

function addedLines({ lines }: Hunk): HunkLine[] {
  return lines.filter(({ kind }) => kind === "add");
}

/** The index of the line that a hunk begins at. */
function place(lines: readonly TextLine[], hunk: Hunk, expected: number, first: number, where: string): number {
  const old = oldLines(hunk);
  if (old.length === 0) {
    if (lines.length === 0) return 0;
    throw patchError("MALFORMED", where, "it names no line of the file: give lines around what is added");
  }
  if (expected >= first && matches(lines, old, expected)) return expected;
  const found: number[] = [];
  for (let at = Math.max(first, expected - OFFSET_MAX); at <= Math.min(expected + OFFSET_MAX, lines.length - old.length); at++) {
    if (matches(lines, old, at)) found.push(at);
  }
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (found.length > 1) {
    const places = found.slice(0, PLACES_MAX).map((at) => at + 1);
    throw patchError(
      "AMBIGUOUS",
      where,
      `its lines are ${found.length} times near line ${expected + 1}, at lines ${places.join(", ")}: give more lines around`,
    );
  }
  throw mismatch(lines, old, expected, first, where);
}

function matches(lines: readonly TextLine[], old: readonly HunkLine[], at: number): boolean {
  return at >= 0 && at + old.length <= lines.length && old.every((line, index) => isSame(lines[at + index], line));
}

function isSame(found: TextLine | undefined, { text, isBare }: HunkLine): boolean {
  if (found === undefined || (isBare && found.end !== "")) return false;
  return found.text === text || (text.endsWith("\r") && found.text === text.slice(0, -1));
}

/** Says what differs at the place near the expected one that has most in common with the hunk. */
function mismatch(lines: readonly TextLine[], old: readonly HunkLine[], expected: number, first: number, where: string): Error {
  let best = { at: Math.max(first, Math.min(expected, lines.length)), common: 0 };
  for (let at = Math.max(first, expected - OFFSET_MAX); at <= Math.min(expected + OFFSET_MAX, lines.length - 1); at++) {
    const common = old.filter((line, index) => isSame(lines[at + index], line)).length;
    const isNearer = Math.abs(at - expected) < Math.abs(best.at - expected);
    if (common > best.common || (common === best.common && isNearer)) best = { at, common };
  }
  const index = old.findIndex((line, offset) => !isSame(lines[best.at + offset], line));
  const [wanted, found] = [old[index] as HunkLine, lines[best.at + index]];
  const line = best.at + index + 1;
  if (found === undefined) return patchError("MISMATCH", where, `line ${line} should be ${quotedLine(wanted.text)}, and the file has ${lines.length} lines`);
  if (found.text === wanted.text) return patchError("MISMATCH", where, `line ${line} should be the last one and have no newline at its end, and it has one`);
  return patchError("MISMATCH", where, `line ${line} should be ${quotedLine(wanted.text)} and is ${quotedLine(found.text)}`);
}

/** What takes the place of the lines that a hunk names. */
function replacement(lines: readonly TextLine[], at: number, hunk: Hunk, isAtEnd: boolean, where: string): TextLine[] {
  const old = oldLines(hunk);
  // A patch that has the file's line ends means those of its new lines as well.
  const ends = old
    .map(({ text }, index) => ({ inPatch: text.endsWith("\r") ? "\r\n" : "\n", inFile: lines[at + index]?.end }))
    .filter(({ inFile }) => inFile !== "");
  const isLiteral = lines.every(({ end }) => end === "") || (ends.length > 0 && ends.every(({ inPatch, inFile }) => inPatch === inFile));
  const result: TextLine[] = [];
  let next = at;
  let removedEnds: LineEnd[] = [];
  for (const line of hunk.lines) {
    if (line.kind === "add") {
      const end = removedEnds.shift() || lineEndAt(lines, next);
      result.push(isLiteral || line.isBare ? literalLine(line) : { text: line.text.endsWith("\r") ? line.text.slice(0, -1) : line.text, end });
      continue;
    }
    const found = lines[next++] as TextLine;
    if (line.kind === "remove") removedEnds.push(found.end);
    else {
      removedEnds = [];
      result.push(found);
    }
  }
  return withLastEnd(result, lines, hunk, isAtEnd, where);
}

/** A line with the end that the patch gives it. */
function literalLine({ text, isBare }: HunkLine): TextLine {
  if (isBare) return { text, end: "" };
  return text.endsWith("\r") ? { text: text.slice(0, -1), end: "\r\n" } : { text, end: "\n" };
}

/** The newline at the file's end: what the patch says of it, else as it was. */
function withLastEnd(result: TextLine[], lines: readonly TextLine[], hunk: Hunk, isAtEnd: boolean, where: string): TextLine[] {
  const bare = hunk.lines.findIndex(({ kind, isBare }) => kind === "add" && isBare);
  if (bare >= 0 && (!isAtEnd || hunk.lines.slice(bare + 1).some(({ kind }) => kind !== "remove"))) {
    throw patchError("MALFORMED", where, "a line without a newline is not the file's last one");
  }
  const last = result.at(-1);
  if (!isAtEnd || last === undefined) return result;
  const lastOfHunk = hunk.lines.findLast(({ kind }) => kind !== "remove");
  if (lastOfHunk?.kind !== "add") return result;
  const saysSo = hunk.lines.some(({ isBare }) => isBare);
  const isBare = saysSo ? lastOfHunk.isBare : lines.at(-1)?.end === "";
  if (isBare) result[result.length - 1] = { text: last.text, end: "" };
  return result;
}

function textOf({ text }: HunkLine): string {
  return text;
}
