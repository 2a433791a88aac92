import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { fileError } from "./file-error.ts";
import { isTemporaryName } from "./temporary-name.ts";
import type { WorkspaceGuard } from "./workspace-guard.ts";

/** More names than these are left out, and said so. */
const ENTRIES_MAX = 2_000;

/** What a directory holds, by name. */
export interface DirectoryListing {
  entries: { name: string; type: "file" | "directory" | "link" | "other"; size: number }[];
  truncated: boolean;
}

/** The names in a directory of the workspace; links are named, not followed, and have their own size. */
export async function listDirectory(guard: WorkspaceGuard, path: string): Promise<DirectoryListing> {
  await using directory = await guard.openDirectory(path, { create: false });
  const all = await readdir(directory.at(""), { withFileTypes: true }).catch((error: unknown) => {
    throw fileError(error, path);
  });
  const found = all.filter(({ name }) => !isTemporaryName(name));
  found.sort((one, other) => (one.name < other.name ? -1 : 1));
  const entries: DirectoryListing["entries"] = [];
  for (const entry of found.slice(0, ENTRIES_MAX)) {
    // Removed between the two calls: it is listed with what is known.
    const stat = await lstat(directory.at(entry.name)).catch(() => undefined);
    entries.push({ name: entry.name, type: typeOf(entry), size: stat?.size ?? 0 });
  }
  return { entries, truncated: found.length > ENTRIES_MAX };
}

function typeOf(entry: Dirent): DirectoryListing["entries"][number]["type"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
}
