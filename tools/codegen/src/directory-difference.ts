import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

async function filesOf(directory: string): Promise<Set<string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return new Set(entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1)));
}

/** How two directories differ, file by file and byte by byte: one line per file, sorted; empty when they are equal. */
export async function directoryDifference(expected: string, actual: string): Promise<string[]> {
  const [wanted, present] = await Promise.all([filesOf(expected), filesOf(actual)]);
  const lines: string[] = [];
  for (const file of [...new Set([...wanted, ...present])].toSorted()) {
    if (!present.has(file)) lines.push(`missing: ${file}`);
    else if (!wanted.has(file)) lines.push(`without a source: ${file}`);
    else if (!(await readFile(join(expected, file))).equals(await readFile(join(actual, file)))) lines.push(`differs from its source: ${file}`);
  }
  return lines;
}
