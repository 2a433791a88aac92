import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { errorCode } from "../workspace/file-error.ts";

export type Language = "javascript" | "python";

/** A file of functions. */
export interface FunctionFile {
  readonly file: string;
  /** Its name without the ending; of Python with its directories, for example reporting.formatters. */
  readonly module: string;
  readonly language: Language;
}

const JAVASCRIPT = /^[a-zA-Z0-9][\w-]*\.(ts|js|mjs)$/;
const PYTHON = /^[a-zA-Z0-9][\w-]*\.py$/;
const PYTHON_TEST = /^(?:test_.*|.*_test|conftest)\.py$/;
/** Of Python: tests and environments are no modules. */
const NO_PACKAGE = /^(?:[._].*|tests|node_modules|venv)$/;
const DEPTH_MAX = 5;
const FILES_MAX = 2_000;

/** The files of a directory that may hold functions, sorted by path; of Python also those in directories below. A missing directory has none. */
export async function functionFiles(directory: string): Promise<FunctionFile[]> {
  const files: FunctionFile[] = [];
  for (const { name } of await entriesOf(directory, (entry) => !entry.isDirectory() && JAVASCRIPT.test(entry.name))) {
    files.push({ file: join(directory, name), module: basename(name, extname(name)), language: "javascript" });
  }
  for (const { file, module } of await pythonFiles(directory)) files.push({ file, module, language: "python" });
  return files;
}

/** A directory's files of Python, those below it included down to a depth. */
export async function pythonFiles(directory: string, depth = DEPTH_MAX): Promise<{ file: string; module: string }[]> {
  const found: { file: string; module: string }[] = [];
  const visit = async (place: string, parents: readonly string[]): Promise<void> => {
    for (const entry of await entriesOf(place, ({ name }) => !NO_PACKAGE.test(name))) {
      if (found.length >= FILES_MAX) return;
      const { name } = entry;
      if (entry.isDirectory()) {
        if (parents.length < depth) await visit(join(place, name), [...parents, name]);
      } else if (PYTHON.test(name) && !PYTHON_TEST.test(name)) {
        found.push({ file: join(place, name), module: [...parents, basename(name, ".py")].join(".") });
      }
    }
  };
  await visit(directory, []);
  return found;
}

async function entriesOf(directory: string, isWanted: (entry: Dirent) => boolean): Promise<Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  });
  return entries.filter(isWanted).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
