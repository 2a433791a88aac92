import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

const FILES_MAX = 5000;
const DEPTH_MAX = 8;

/** The YAML files in a directory and, where asked, below it, in the order of their names; none where it is missing. Hidden ones and links to directories are passed over. */
export async function yamlFiles(directory: string, options: { readonly recursive: boolean }): Promise<string[]> {
  const files: string[] = [];
  await collect(directory, options.recursive ? DEPTH_MAX : 0, files);
  return files;
}

async function collect(directory: string, depth: number, files: string[]): Promise<void> {
  for (const entry of await entriesOf(directory)) {
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory() && depth > 0) await collect(path, depth - 1, files);
    else if (!entry.isDirectory() && /\.ya?ml$/.test(entry.name)) files.push(path);
    if (files.length > FILES_MAX)
      throw new ForgeError(ErrorCode.VALIDATION, `more than ${FILES_MAX} YAML files in ${directory}`, { reason: "CONFIG_VALIDATION" });
  }
}

async function entriesOf(directory: string) {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return [];
    throw error;
  }
}
