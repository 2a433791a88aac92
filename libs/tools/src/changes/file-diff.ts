import { structuredPatch } from "diff";
import { decodeText, type TextContent } from "../workspace/text-content.ts";

/** Of all files that are compared for one purpose. Of a file whose turn comes later, or that takes longer, all lines are told as replaced. */
const BUDGET_MS = 2_000;
/** Files with more lines together are not even tried. */
const LINES_MAX = 200_000;
const CONTEXT_LINES = 3;

/** What is different between two contents of a file, for people. */
export interface FileDiff {
  /** Unified, with headers; of what is no text, a line that says so. */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

/** Compares files as long as there is time for it, since nothing else happens in the process meanwhile. */
export class FileDiffs {
  #leftMs = BUDGET_MS;

  /** `before` or `after` undefined: there is no such file. */
  of(path: string, before: Uint8Array | undefined, after: Uint8Array | undefined): FileDiff {
    const startedAt = performance.now();
    const diff = fileDiff(path, before, after, this.#leftMs);
    this.#leftMs = Math.max(1, this.#leftMs - (performance.now() - startedAt));
    return diff;
  }
}

function fileDiff(path: string, before: Uint8Array | undefined, after: Uint8Array | undefined, timeout: number): FileDiff {
  const from = before === undefined ? "/dev/null" : headerPath(`a/${path}`);
  const to = after === undefined ? "/dev/null" : headerPath(`b/${path}`);
  const header = `--- ${from}\n+++ ${to}\n`;
  const [one, other] = [contentOf(before), contentOf(after)];
  if (one === undefined || other === undefined) {
    return { text: `${header}Binary files differ (${before?.length ?? 0} and ${after?.length ?? 0} bytes)\n`, added: 0, removed: 0 };
  }
  // Where both have a byte order mark, a patch leaves it alone, and does not name it.
  const isMarked = one.hasMark !== other.hasMark;
  const [old, next] = [isMarked ? markedText(one) : one.text, isMarked ? markedText(other) : other.text];
  const isShort = countLines(old) + countLines(next) <= LINES_MAX;
  const patch = isShort ? structuredPatch(from, to, old, next, undefined, undefined, { context: CONTEXT_LINES, timeout }) : undefined;
  if (patch === undefined) return replaced(header, old, next);
  let [added, removed] = [0, 0];
  const pieces = [header];
  for (const { oldStart, oldLines, newStart, newLines, lines } of patch.hunks) {
    // The library counts from the next line where there is none; patches count from the one before.
    pieces.push(`@@ -${oldLines === 0 ? oldStart - 1 : oldStart},${oldLines} +${newLines === 0 ? newStart - 1 : newStart},${newLines} @@\n`);
    for (const line of lines) {
      if (line.startsWith("+")) added++;
      else if (line.startsWith("-")) removed++;
      pieces.push(line, "\n");
    }
  }
  return { text: pieces.join(""), added, removed };
}

/** All lines removed, and all lines added. */
function replaced(header: string, old: string, next: string): FileDiff {
  const [removed, added] = [countLines(old), countLines(next)];
  const text = `${header}@@ -${Math.min(1, removed)},${removed} +${Math.min(1, added)},${added} @@\n${prefixed("-", old)}${prefixed("+", next)}`;
  return { text, added, removed };
}

function prefixed(prefix: string, text: string): string {
  if (text === "") return "";
  const isEnded = text.endsWith("\n");
  const lines = (isEnded ? text.slice(0, -1) : text).replaceAll("\n", `\n${prefix}`);
  return `${prefix}${lines}\n${isEnded ? "" : "\\ No newline at end of file\n"}`;
}

function contentOf(bytes: Uint8Array | undefined): Pick<TextContent, "text" | "hasMark"> | undefined {
  if (bytes === undefined) return { text: "", hasMark: false };
  try {
    return decodeText(bytes, "");
  } catch {
    // No text that is known; the diff says so.
    return undefined;
  }
}

function markedText({ text, hasMark }: Pick<TextContent, "text" | "hasMark">): string {
  return hasMark ? `\ufeff${text}` : text;
}

function countLines(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

/** As git writes it: a name that could be taken for more than one line is quoted. */
function headerPath(path: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return /[\x00-\x1f"\\]/.test(path) ? JSON.stringify(path) : path;
}
