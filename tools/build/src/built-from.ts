import { readdir, rename, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Plugin } from "vite";
import { isCopied } from "./runtime-files.ts";

/**
 * Where a bundle's list is, beside its main.js: for a file `[path below the root, bytes, time of the last change in milliseconds]`, for a folder that was copied
 * `[path with a slash at its end, what is in it, but for __pycache__, 0]`, so that a file that comes is seen as well.
 */
const LIST = "built-from.json";
/** Says which versions of the packages are in the bundle. */
const LOCK_FILE = "package-lock.json";

type Source = readonly [path: string, size: number, mtimeMs: number];

/** Remembers the modules of the repository that go into a bundle. */
export function builtFrom(root: string): { readonly plugin: Plugin; modules(): readonly string[] } {
  const modules = new Set<string>();
  const plugin: Plugin = {
    name: "forge:built-from",
    moduleParsed: ({ id }) => {
      if (id.startsWith(`${root}/`) && !id.includes("/node_modules/")) modules.add(id);
    },
  };
  return { plugin, modules: () => [...modules] };
}

/**
 * Writes the list of what a bundle was made from: its modules, and what was copied, both absolute, and the lock file. Whoever finds all of them as they were may use the
 * bundle in place of its sources. Where one was changed while the bundle was made, there is no list.
 */
export async function writeBuiltFrom(root: string, outDir: string, made: readonly string[], startedAtMs: number): Promise<void> {
  const found = await Promise.all([...made, join(root, LOCK_FILE)].map((path) => sourcesAt(root, path)));
  const list = found.flat().toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (list.some(([, , mtimeMs]) => mtimeMs >= startedAtMs)) return;
  // Under its name only once it is whole.
  const unfinished = join(outDir, `${LIST}.tmp`);
  await writeFile(unfinished, JSON.stringify(list));
  await rename(unfinished, join(outDir, LIST));
}

/** A file, or a folder with all that is copied of it. */
async function sourcesAt(root: string, path: string): Promise<readonly Source[]> {
  const found = await stat(path);
  if (!found.isDirectory()) return [[relative(root, path), found.size, found.mtimeMs]];
  const names = await readdir(path);
  const inside = await Promise.all(names.filter(isCopied).map((name) => sourcesAt(root, join(path, name))));
  return [[`${relative(root, path)}/`, names.filter((name) => name !== "__pycache__").length, 0], ...inside.flat()];
}
