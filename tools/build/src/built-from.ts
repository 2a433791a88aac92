import { readdir, rename, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Plugin } from "vite";

/** Where a bundle's list is, beside its main.js: an array of `[path below the root, bytes, time of the last change in milliseconds]`. */
const LIST = "built-from.json";
/** Says which versions of the packages are in the bundle. */
const LOCK_FILE = "package-lock.json";

/** Remembers the modules of the repository that go into a bundle. */
export function builtFrom(root: string): { readonly plugin: Plugin; modules(): readonly string[] } {
  const modules = new Set<string>();
  const plugin: Plugin = {
    name: "forge:built-from",
    moduleParsed: ({ id }) => {
      if (id.startsWith(`${root}/`) && !id.includes("/node_modules/")) modules.add(relative(root, id));
    },
  };
  return { plugin, modules: () => [...modules] };
}

/**
 * Writes the list of what a bundle was made from: its modules, the files that were copied, and the lock file. Whoever finds all of them as they were may use the
 * bundle in place of its sources. Without one of them, or where one was changed while the bundle was made, there is no list.
 */
export async function writeBuiltFrom(root: string, outDir: string, modules: readonly string[], startedAtMs: number): Promise<void> {
  const copied = await readdir(join(outDir, "files"), { recursive: true, withFileTypes: true }).catch(() => []);
  const files = copied.filter((entry) => entry.isFile()).map((entry) => relative(join(outDir, "files"), join(entry.parentPath, entry.name)));
  const paths = [...modules, ...files, LOCK_FILE].toSorted();
  const found = await Promise.all(paths.map((path) => stat(join(root, path)).catch(() => undefined)));
  const list = paths.map((path, index) => [path, found[index]?.size, found[index]?.mtimeMs] as const);
  if (list.some(([, , mtimeMs]) => mtimeMs === undefined || mtimeMs >= startedAtMs)) return;
  // Under its name only once it is whole.
  const unfinished = join(outDir, `${LIST}.tmp`);
  await writeFile(unfinished, JSON.stringify(list));
  await rename(unfinished, join(outDir, LIST));
}
