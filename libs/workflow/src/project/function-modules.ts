import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { ForgeError } from "@forge/protocol";
import type { FunctionNames } from "./function-names.ts";
import { javascriptNames } from "./javascript-names.ts";
import { pythonNames } from "./python-names.ts";

/** A file of functions; as the executor finds them. */
export interface FunctionModule extends FunctionNames {
  /** For example parse, or, of Python only, reporting.formatters. */
  readonly name: string;
  readonly file: string;
}

const JAVASCRIPT = /^[a-zA-Z0-9][\w-]*\.(?:ts|js|mjs)$/;
const PYTHON = /^[a-zA-Z0-9][\w-]*\.py$/;
const PYTHON_TEST = /^(?:test_.*|.*_test|conftest)\.py$/;
/** Of Python: tests and environments are no modules. */
const NO_PACKAGE = /^(?:[._].*|tests|node_modules|venv)$/;
const DEPTH_MAX = 5;
const FILES_MAX = 2_000;
/** What is larger is not looked into. */
const TEXT_LENGTH_MAX = 1_048_576;

/** The modules of a directory, sorted by path; nothing of them is run. A missing directory has none. Throws ForgeError: validation, CONFIG_VALIDATION. */
export async function functionModules(directory: string): Promise<FunctionModule[]> {
  const modules: FunctionModule[] = [];
  const visit = async (place: string, parents: readonly string[]): Promise<void> => {
    for (const entry of await entriesOf(place)) {
      const { name } = entry;
      const file = join(place, name);
      if (modules.length >= FILES_MAX) return;
      if (entry.isDirectory()) {
        if (parents.length < DEPTH_MAX && !NO_PACKAGE.test(name)) await visit(file, [...parents, name]);
      } else if (PYTHON.test(name) && !PYTHON_TEST.test(name)) {
        modules.push({ name: [...parents, basename(name, ".py")].join("."), file, ...(await namesIn(file, pythonNames)) });
      } else if (parents.length === 0 && JAVASCRIPT.test(name)) {
        modules.push({ name: basename(name, extname(name)), file, ...(await namesIn(file, javascriptNames)) });
      }
    }
  };
  await visit(directory, []);
  return modules;
}

async function entriesOf(directory: string): Promise<Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    throw ForgeError.validation("functions_dir", `${directory} can't be read: ${message}`, { reason: "CONFIG_VALIDATION", cause: error });
  });
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function namesIn(file: string, read: (text: string) => FunctionNames): Promise<FunctionNames> {
  // What can't be read here may still be served; whoever serves it says what is wrong.
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined || text.length > TEXT_LENGTH_MAX ? { names: [], isOpen: true } : read(text);
}
