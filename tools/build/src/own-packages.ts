import { glob } from "node:fs/promises";

/**
 * Packages that an app or a library of the repository has in a node_modules of its own, since the root's is of another version: an import of one, left in a bundle,
 * would find the root's.
 */
export async function ownPackages(root: string): Promise<string[]> {
  const names = new Set<string>();
  for await (const path of glob("{apps,libs}/*/node_modules/{@*/*,[!.@]*}", { cwd: root })) names.add(path.split("/node_modules/")[1] as string);
  return [...names];
}
