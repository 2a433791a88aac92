import { lstat, readdir } from "node:fs/promises";
import { join, matchesGlob } from "node:path";
import { cutText, textEnd } from "../text.ts";
import { fileError } from "../workspace/file-error.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";

/** Larger files are rarely text that somebody wrote. */
const FILE_BYTES_MAX = 1024 * 1024;
/** What decides whether a file is binary, as git does it: a NUL near its beginning. */
const BINARY_PROBE_BYTES = 8_000;
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

/** Searches the text files of the workspace, line by line. Links are not followed; .git, .forge/data and node_modules are left out. */
export async function searchWorkspace(guard: WorkspaceGuard, options: SearchOptions, signal?: AbortSignal): Promise<SearchResult> {
  const find = matcher(options);
  const result: SearchResult = { matches: [], files_searched: 0, truncated: false };
  let files = 0;
  for await (const file of textFiles(guard, options)) {
    signal?.throwIfAborted();
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

/** The paths, relative to the workspace, of what may be searched; depth first, names in order. */
async function* textFiles(guard: WorkspaceGuard, { path, glob }: SearchOptions): AsyncGenerator<string> {
  const start = await guard.resolve(path);
  const stat = await lstat(start).catch((error: unknown) => {
    throw fileError(error, path);
  });
  if (!stat.isDirectory()) {
    yield guard.relative(start);
    return;
  }
  const pending = [""];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    // A directory that vanished or may not be read is passed over: the search is for what can be seen.
    const entries = await readdir(join(start, directory), { withFileTypes: true }).catch(() => []);
    entries.sort((one, other) => (one.name < other.name ? -1 : 1));
    const below: string[] = [];
    for (const entry of entries) {
      const relative = directory === "" ? entry.name : `${directory}/${entry.name}`;
      if (guard.isProtected(join(start, relative))) continue;
      if (entry.isDirectory() && entry.name !== "node_modules") below.push(relative);
      else if (entry.isFile() && matchesFilter(relative, entry.name, glob)) yield guard.relative(join(start, relative));
    }
    pending.push(...below.toReversed());
  }
}

function matchesFilter(relative: string, name: string, glob: string | undefined): boolean {
  if (glob === undefined) return true;
  return matchesGlob(glob.includes("/") ? relative : name, glob);
}

/** The file's text; undefined where it is too large, binary, or can't be read any more. */
async function readSearchable(guard: WorkspaceGuard, file: string): Promise<string | undefined> {
  const handle = await guard.openFile(file).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    if ((await handle.stat()).size > FILE_BYTES_MAX) return undefined;
    const bytes = await handle.readFile();
    return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0) ? undefined : bytes.toString("utf8");
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}
