import { cutText, textEnd } from "../text.ts";
import { decodeText } from "../workspace/text-content.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { pathMatcher } from "./path-matcher.ts";
import { walkFiles } from "./walk-files.ts";

/** Larger files are rarely text that somebody wrote. */
const FILE_BYTES_MAX = 1024 * 1024;
const FILES_MAX = 50_000;
/** Of a line in the answer. */
const LINE_LENGTH_MAX = 400;
/** Of a longer line, what is shown before the match. */
const LINE_LEAD = 100;

/** What to look for. */
export interface SearchOptions {
  readonly pattern: string;
  /** A regular expression; else the pattern is text. */
  readonly regex: boolean;
  /** A file or directory, relative to the workspace. */
  readonly path: string;
  /** Matched against the path from `path` on, or the name alone where it holds no `/`. */
  readonly glob?: string;
  readonly maxResults: number;
}

/** What was found, in the order of paths and lines. */
export interface SearchResult {
  matches: { file: string; line: number; text: string }[];
  files_searched: number;
  /** There is more: the bound of results or of files was reached. */
  truncated: boolean;
}

/** Searches the text files of the workspace that walkFiles finds, line by line. */
export async function searchWorkspace(guard: WorkspaceGuard, options: SearchOptions, signal?: AbortSignal): Promise<SearchResult> {
  const find = matcher(options);
  const isWanted = options.glob === undefined ? () => true : pathMatcher(options.glob);
  const result: SearchResult = { matches: [], files_searched: 0, truncated: false };
  let files = 0;
  for await (const { path: file, below } of walkFiles(guard, options.path)) {
    signal?.throwIfAborted();
    if (!isWanted(below)) continue;
    if (++files > FILES_MAX) return { ...result, truncated: true };
    const content = await readSearchable(guard, file);
    if (content === undefined) continue;
    result.files_searched++;
    if (!options.regex && !content.includes(options.pattern)) continue;
    for (const [index, line] of content.split("\n").entries()) {
      const at = find(line);
      if (at < 0) continue;
      if (result.matches.length === options.maxResults) return { ...result, truncated: true };
      result.matches.push({ file, line: index + 1, text: shown(line, at) });
    }
  }
  return result;
}

/** Where in a line the pattern is, or -1. */
function matcher({ pattern, regex }: SearchOptions): (line: string) => number {
  if (!regex) return (line) => line.indexOf(pattern);
  const expression = new RegExp(pattern);
  return (line) => line.search(expression);
}

function shown(line: string, at: number): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (text.length <= LINE_LENGTH_MAX) return text;
  const start = Math.max(0, Math.min(at - LINE_LEAD, text.length - LINE_LENGTH_MAX));
  return cutText(textEnd(text, text.length - start), LINE_LENGTH_MAX);
}

/** The file's text; undefined where it is too large, binary, or can't be read any more. */
async function readSearchable(guard: WorkspaceGuard, file: string): Promise<string | undefined> {
  const handle = await guard.openFile(file).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    if ((await handle.stat()).size > FILE_BYTES_MAX) return undefined;
    return decodeText(await handle.readFile(), file).text;
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}
