import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileError } from "../workspace/file-error.ts";
import { DATA_MARKER } from "../workspace/protected-names.ts";
import { isTemporaryName } from "../workspace/temporary-name.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { IgnoreRules } from "./ignore-rules.ts";

/** Their rules say what is not worth looking at. */
const IGNORE_FILES = [".gitignore", ".ignore"];

/** A regular file of a workspace. */
export interface WalkedFile {
  /** Relative to the workspace. */
  readonly path: string;
  /** Relative to where the walk began; of a walk that began at a file its name. */
  readonly below: string;
}

/**
 * The files below a path, depth first, names in order. Links are not followed; what tools may not read, what ignore files name and node_modules are left out. A
 * walk that begins at something ignored looks at all of it: somebody asked for it. Errors: those of the guard; not_found.
 */
export async function* walkFiles(guard: WorkspaceGuard, path: string): AsyncGenerator<WalkedFile> {
  const start = await guard.resolve(path);
  const stat = await lstat(start).catch((error: unknown) => {
    throw fileError(error, path);
  });
  const from = guard.relative(start);
  if (!stat.isDirectory()) {
    yield { path: from, below: from.slice(from.lastIndexOf("/") + 1) };
    return;
  }
  const prefix = from === "." ? 0 : from.length + 1;
  const pending = [{ directory: from === "." ? "" : from, above: rulesAt(guard.root, from) }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { directory, above } = next;
    // A directory that vanished or may not be read is passed over: the walk is for what can be seen.
    const entries = await readdir(join(guard.root, directory), { withFileTypes: true }).catch(() => []);
    if (directory !== "" && entries.some(({ name }) => name === DATA_MARKER)) continue;
    entries.sort((one, other) => (one.name < other.name ? -1 : 1));
    const rules = directory === "" ? above : above.within(guard.root, directory);
    const below: (typeof pending)[number][] = [];
    for (const entry of entries) {
      const child = directory === "" ? entry.name : `${directory}/${entry.name}`;
      if (!(entry.isDirectory() || entry.isFile()) || guard.isRefusedName(child) || rules.isIgnored(child, entry.isDirectory())) continue;
      if (entry.isDirectory()) below.push({ directory: child, above: rules });
      else if (!isTemporaryName(entry.name)) yield { path: child, below: child.slice(prefix) };
    }
    pending.push(...below.toReversed());
  }
}

/** The rules above a directory; only what always holds where it is ignored itself. */
function rulesAt(root: string, directory: string): IgnoreRules {
  let rules = IgnoreRules.of(root, IGNORE_FILES);
  if (directory === ".") return rules;
  const parts = directory.split("/");
  for (let length = 1; length <= parts.length; length++) {
    const path = parts.slice(0, length).join("/");
    if (rules.isIgnored(path, true)) return IgnoreRules.none(IGNORE_FILES);
    if (length < parts.length) rules = rules.within(root, path);
  }
  return rules;
}
