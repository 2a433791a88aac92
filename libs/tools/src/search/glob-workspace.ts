import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { pathMatcher } from "./path-matcher.ts";
import { walkFiles } from "./walk-files.ts";

/** Files that are looked at; a workspace with more is told as not looked through. */
const FILES_MAX = 500_000;

/** Which files to name. */
export interface GlobOptions {
  /** Matched against the path from `path` on, or the name alone where it holds no `/`. */
  readonly pattern: string;
  /** A directory, relative to the workspace. */
  readonly path: string;
  readonly maxResults: number;
}

/** Paths relative to the workspace, depth first, in order of their names. */
export interface GlobResult {
  files: string[];
  /** There is more: the bound of results or of files was reached. */
  truncated: boolean;
}

/** The files that a pattern matches, of those that walkFiles finds. */
export async function globWorkspace(guard: WorkspaceGuard, { pattern, path, maxResults }: GlobOptions, signal?: AbortSignal): Promise<GlobResult> {
  const matches = pathMatcher(pattern);
  const result: GlobResult = { files: [], truncated: false };
  let seen = 0;
  for await (const file of walkFiles(guard, path)) {
    signal?.throwIfAborted();
    if (++seen > FILES_MAX) return { ...result, truncated: true };
    if (!matches(file.below)) continue;
    if (result.files.length === maxResults) return { ...result, truncated: true };
    result.files.push(file.path);
  }
  return result;
}
