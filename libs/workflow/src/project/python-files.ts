import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A file of Python in a project. */
export interface PythonFile {
  readonly file: string;
  readonly text: string;
}

const DEPTH_MAX = 5;
const FILES_MAX = 2_000;
/** What is larger is not looked into. */
const TEXT_LENGTH_MAX = 1_048_576;
/** Tests and environments are no code of the project's steps. */
const LEFT_OUT = /^(?:\..*|__pycache__|tests|node_modules|venv)$/;

/** The files of Python in a directory and below it, helpers included; what can't be read is left out. */
export async function pythonFiles(directory: string): Promise<PythonFile[]> {
  const found: PythonFile[] = [];
  const visit = async (place: string, depth: number): Promise<void> => {
    // What can't be listed has nothing to be checked; whoever serves it says why.
    const entries = await readdir(place, { withFileTypes: true }).catch((): Dirent[] => []);
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = join(place, entry.name);
      if (found.length >= FILES_MAX || LEFT_OUT.test(entry.name)) continue;
      if (entry.isDirectory()) {
        if (depth < DEPTH_MAX) await visit(file, depth + 1);
      } else if (entry.name.endsWith(".py")) {
        const text = await readFile(file, "utf8").catch(() => "");
        found.push({ file, text: text.length > TEXT_LENGTH_MAX ? "" : text });
      }
    }
  };
  await visit(directory, 0);
  return found;
}
