import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** What lies in a directory; nothing where there is none. */
async function namesIn(directory: string): Promise<string[]> {
  return await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
}

/**
 * Packages that an app or a library of the repository has in a node_modules of its own, since the root's is of another version: an import of one, left in a bundle,
 * would find the root's.
 */
export async function ownPackages(root: string): Promise<string[]> {
  const found = new Set<string>();
  for (const group of ["apps", "libs"]) {
    for (const member of await namesIn(join(root, group))) {
      const directory = join(root, group, member, "node_modules");
      for (const name of await namesIn(directory)) {
        if (name.startsWith(".")) continue;
        if (!name.startsWith("@")) found.add(name);
        else for (const scoped of await namesIn(join(directory, name))) found.add(`${name}/${scoped}`);
      }
    }
  }
  return [...found];
}
