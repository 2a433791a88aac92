import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const FOLDER = fileURLToPath(new URL("../../peers/", import.meta.url));
const INSTALL_MS_MAX = 300_000;

/** A peer's program. */
export function peerProgram(name: string): URL {
  return new URL(`../../peers/src/${name}.mts`, import.meta.url);
}

/** Installs what the peers' own lock file names, unless it is there; nothing of it is run meanwhile. Resolves with the peers' versions by package. */
export async function installPeers(progress: (text: string) => void): Promise<Readonly<Record<string, string>>> {
  const lock = await readFile(path.join(FOLDER, "package-lock.json"), "utf8");
  // The lock file as it was when it was installed.
  const installed = path.join(FOLDER, "node_modules", ".installed-lock.json");
  if ((await readFile(installed, "utf8").catch(() => "")) !== lock) {
    progress("installing the peers");
    await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: FOLDER, timeout: INSTALL_MS_MAX });
    await writeFile(installed, lock);
  }
  const { dependencies } = JSON.parse(await readFile(path.join(FOLDER, "package.json"), "utf8")) as { readonly dependencies: Record<string, string> };
  return dependencies;
}
