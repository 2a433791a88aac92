import type { DemoCall } from "./conversation.ts";

const REQUEST_CHARACTERS_MAX = 80;

/** Longer lines are no place to add something after. */
const LINE_CHARACTERS_MAX = 400;

/** Where nothing that is there fits. */
export const NOTES_PATH = "NOTES.md";

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.startsWith("[") ? text.indexOf("\n") + 1 : 0));
  } catch {
    // The beginning of a large output, or a tool that answers with text.
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The file to change among those that a tool named: a README nearest to the top, else the first text. Undefined: none. */
export function chooseFile(output: string): string | undefined {
  const value = parsed(output);
  const listed = isRecord(value) && Array.isArray(value.files) ? value.files.filter((file) => typeof file === "string") : undefined;
  const paths = listed ?? output.match(/[\p{L}\p{N}@_./-]+\.(?:md|txt)\b/gu) ?? [];
  const texts = [...new Set(paths)].filter((path) => /\.(?:md|txt)$/i.test(path));
  const depth = (path: string): number => path.split("/").length;
  const isReadme = (path: string): boolean => /(?:^|\/)readme\./i.test(path);
  return texts.toSorted((a, b) => Number(isReadme(b)) - Number(isReadme(a)) || depth(a) - depth(b))[0];
}

/** What a file held when it was read in this conversation; undefined where the answer does not say. */
export function contentOf(call: DemoCall | undefined): string | undefined {
  if (!call?.result || call.result.isError) return undefined;
  const value = parsed(call.result.output);
  return isRecord(value) && typeof value.content === "string" ? value.content : undefined;
}

/** The path in a call's arguments. */
export function pathOf(call: DemoCall): string | undefined {
  const value = parsed(call.input);
  return isRecord(value) && typeof value.path === "string" ? value.path : undefined;
}

/** Lines between two changes, so that a difference shows them as two that can be taken apart. */
const LINES_APART = 10;

/** Lines that stand in the text exactly once, so that they name their place, with their numbers. */
function uniqueLines(content: string): { readonly line: string; readonly number: number }[] {
  return content
    .split(/\r?\n/)
    .map((line, number) => ({ line, number }))
    .filter(({ line }) => line.trim() !== "" && line.length <= LINE_CHARACTERS_MAX && content.split(line).length === 2);
}

/** The sentence that the tour adds. */
export function addedLine(request: string): string {
  const asked = request.replaceAll(/\s+/g, " ").trim();
  const quoted = asked.length > REQUEST_CHARACTERS_MAX ? `${asked.slice(0, REQUEST_CHARACTERS_MAX).toWellFormed()}...` : asked;
  return `Added on a tour of Forge by its demo model, asked: "${quoted}"`;
}

/** One replacement, as tools.patch takes them. */
export interface Edit {
  readonly path: string;
  readonly search: string;
  readonly replace: string;
}

/**
 * Adds a line at the end of a file as it was read, and where a tour is asked for one at its beginning, too, so that there are two changes to decide on. Empty where
 * no line of the file names a place.
 */
export function linesAdded(path: string, content: string, request: string): Edit[] {
  const unique = uniqueLines(content);
  const [first, last] = [unique[0], unique.at(-1)];
  if (!first || !last) return [];
  const isLong = last.number - first.number >= LINES_APART;
  const after = ({ line }: { readonly line: string }, added: string): Edit => ({ path, search: line, replace: `${line}\n\n${added}` });
  const top = isLong && /\btour\b/iu.test(request) ? [after(first, "This line shows a second change: take it, leave it, or change it before you do.")] : [];
  return [...top, after(last, addedLine(request))];
}

/** A unified diff that makes the notes. */
export function notesCreated(request: string): string {
  return `--- /dev/null\n+++ b/${NOTES_PATH}\n@@ -0,0 +1,3 @@\n+# Notes\n+\n+${addedLine(request)}\n`;
}

/** The paths that a call of tools.patch names. */
export function patchedPaths(call: DemoCall): string[] {
  const value = parsed(call.input);
  if (!isRecord(value)) return [];
  const edits = Array.isArray(value.edits) ? value.edits.filter(isRecord) : [];
  const inDiff = typeof value.patch === "string" ? Array.from(value.patch.matchAll(/^\+\+\+ b\/(.+)$/gm), (match) => match[1] as string) : [];
  return [...new Set([...edits.map((edit) => String(edit.path)), ...inDiff])];
}
