import { basename } from "node:path";
import { answerError } from "./answer-error.ts";
import { type FunctionFile, functionFiles, type Language } from "./function-files.ts";
import type { FunctionPool } from "./function-pool.ts";
import type { FunctionAnswer, FunctionProcess } from "./function-process.ts";

/** Of one file: to be imported, it should do no more than declare. */
const LOAD_TIMEOUT_MS = 10_000;

/** A function that a project offers. */
export interface DiscoveredFunction {
  /** module.function, for example parse.parse_report. */
  readonly name: string;
  readonly file: string;
  readonly exportName: string;
  readonly language: Language;
}

/** A file whose functions or tools can't be offered, and why. */
export interface DiscoveryError {
  readonly file: string;
  readonly message: string;
}

/** Where the files of a language are read, or why they can't be. */
export type PoolOf = (language: Language) => Promise<FunctionPool | string>;

/**
 * The functions of a directory's modules: what those of JavaScript (.ts, .js, .mjs) export, whose code runs in a child process, and what those of Python (.py)
 * define, which are only read. Left out are tests, declarations, and what begins with an underscore, files and functions. What two files offer under one name
 * is an error, and neither is served. A missing directory has none.
 */
export async function discoverFunctions(directory: string, poolOf: PoolOf): Promise<{ functions: DiscoveredFunction[]; errors: DiscoveryError[] }> {
  const found = new Map<string, DiscoveredFunction[]>();
  const errors: DiscoveryError[] = [];
  const modules = new Map<string, FunctionFile>();
  for (const served of await functionFiles(directory)) {
    const other = modules.get(served.module);
    if (other?.language === served.language) {
      errors.push({ file: served.file, message: `${basename(other.file)} has the same name` });
      continue;
    }
    if (other === undefined) modules.set(served.module, served);
    try {
      const pool = await poolOf(served.language);
      if (typeof pool === "string") throw new Error(pool);
      for (const exportName of await exportsOf(served.file, pool)) {
        const name = `${served.module}.${exportName}`;
        found.set(name, [...(found.get(name) ?? []), { name, file: served.file, exportName, language: served.language }]);
      }
    } catch (error) {
      errors.push({ file: served.file, message: messageOf(error) });
    }
  }
  const functions: DiscoveredFunction[] = [];
  for (const [name, candidates] of found) {
    const [only, other] = candidates;
    if (other === undefined) functions.push(only as DiscoveredFunction);
    else errors.push({ file: other.file, message: `${name} is ambiguous: ${candidates.map(({ file }) => basename(file)).join(" and ")} both have it` });
  }
  return { functions, errors };
}

/** What a file answers to a question, as JSON. Errors: what the file does wrong. */
export async function askFile<T>(
  file: string,
  pool: FunctionPool,
  ask: (process: FunctionProcess, signal: AbortSignal) => Promise<FunctionAnswer>,
  of: "function" | "tool" = "function",
): Promise<T> {
  const timeout = AbortSignal.timeout(LOAD_TIMEOUT_MS);
  const answer = await pool.use(timeout, (process) => ask(process, timeout));
  if (answer.kind === "interrupted") throw new Error(`importing it did not end within ${LOAD_TIMEOUT_MS / 1000} s`);
  if (answer.kind !== "result") throw answerError(basename(file), answer, of);
  return JSON.parse(answer.json) as T;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function exportsOf(file: string, pool: FunctionPool): Promise<string[]> {
  return askFile(file, pool, (process, signal) => process.discover(file, signal));
}
