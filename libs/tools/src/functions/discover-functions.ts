import { readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { errorCode } from "../workspace/file-error.ts";
import { answerError } from "./answer-error.ts";
import type { FunctionPool } from "./function-pool.ts";

/** Of one file: to be imported, it should do no more than declare. */
const LOAD_TIMEOUT_MS = 10_000;

/** A function that a project offers. */
export interface DiscoveredFunction {
  /** module.function, for example parse.parse_report. */
  readonly name: string;
  readonly file: string;
  readonly exportName: string;
}

/** A file whose functions can't be offered, and why. */
export interface DiscoveryError {
  readonly file: string;
  readonly message: string;
}

/**
 * The exported functions of a directory's modules (.ts, .js, .mjs). Left out are tests, declarations, and what begins with an underscore, files and functions.
 * The files' code runs in a child process. A missing directory has none.
 */
export async function discoverFunctions(directory: string, pool: FunctionPool): Promise<{ functions: DiscoveredFunction[]; errors: DiscoveryError[] }> {
  const functions: DiscoveredFunction[] = [];
  const errors: DiscoveryError[] = [];
  const modules = new Map<string, string>();
  for (const file of await moduleFiles(directory)) {
    const module = basename(file, extname(file));
    const other = modules.get(module);
    if (other !== undefined) {
      errors.push({ file, message: `${basename(other)} has the same name` });
      continue;
    }
    modules.set(module, file);
    try {
      for (const exportName of await exportsOf(file, pool)) functions.push({ name: `${module}.${exportName}`, file, exportName });
    } catch (error) {
      errors.push({ file, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { functions, errors };
}

async function moduleFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  });
  const names = entries.filter((entry) => !entry.isDirectory()).map((entry) => entry.name);
  return names
    .filter((name) => /^[a-zA-Z0-9][\w-]*\.(ts|js|mjs)$/.test(name))
    .toSorted()
    .map((name) => join(directory, name));
}

async function exportsOf(file: string, pool: FunctionPool): Promise<string[]> {
  const timeout = AbortSignal.timeout(LOAD_TIMEOUT_MS);
  const answer = await pool.use(timeout, (process) => process.discover(file, timeout));
  if (answer.kind === "interrupted") throw new Error(`importing it did not end within ${LOAD_TIMEOUT_MS / 1000} s`);
  if (answer.kind !== "result") throw answerError(basename(file), answer);
  return JSON.parse(answer.json) as string[];
}
