import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The command line of Forge, installed for this program or for this package; by its name where neither is. */
export async function findForge(): Promise<readonly string[]> {
  for (const start of [process.cwd(), path.dirname(fileURLToPath(import.meta.url))]) {
    for (const directory of upwardsFrom(start)) {
      const bin = path.join(directory, "node_modules", ".bin", "forge");
      // What can't be looked at can't be started either.
      if ((await stat(bin).catch(() => undefined)) !== undefined) return [process.execPath, await realpath(bin)];
    }
  }
  return ["forge"];
}

function upwardsFrom(start: string): string[] {
  const directories = [start];
  for (let parent = path.dirname(start); parent !== directories.at(-1); parent = path.dirname(parent)) directories.push(parent);
  return directories;
}
