import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Launch } from "./driver-process.ts";

/** Why a driver can't run on this machine, and what to install: "Go 1.25 is not installed: see go.dev/dl". */
export interface Missing {
  readonly missing: string;
}

/**
 * One client implementation under test: a column of the matrix. Each language has a folder in test/contract/drivers with
 *
 * - `implementations.ts`, which exports `IMPLEMENTATIONS: readonly Implementation[]` (this file finds it by itself; nothing is to be registered),
 * - the driver program, which speaks forge.contract.v1 over its standard input and output,
 * - `known-failing.txt` where something is known to fail: lines of `scenario | reason` or `implementation | scenario | reason`.
 *
 * Try one alone: FORGE_CONTRACT_IMPLEMENTATIONS=python npx vitest run --project system test/contract/matrix.spec.ts
 */
export interface Implementation {
  /** As in its driver's Description, for example "python-async". */
  readonly name: string;
  readonly language: string;
  /** True for a client that finds its server by itself, and not by World.open's url. */
  readonly findsServer?: boolean;
  /** True for one that looks for another server, or goes on calling its own, where that does not answer, as `forge` does: it tells nothing before its patience ends. */
  readonly replacesServer?: boolean;
  /** How to start it, after whatever has to be built; it is called once in a run, and again only after a driver had to be ended. */
  start(): Promise<Launch | Missing>;
}

/** An implementation with what lies beside its driver. */
export interface Column extends Implementation {
  /** The file's text; empty where there is none. */
  readonly knownFailing: string;
  readonly knownFailingFile: string;
  /** All implementations of the same driver. */
  readonly siblings: readonly string[];
}

const DRIVERS = path.join(import.meta.dirname, "../drivers");
const FIRST = "typescript";

/** Every implementation, TypeScript's first, then by language. */
export async function loadImplementations(): Promise<readonly Column[]> {
  const folders = (await readdir(DRIVERS)).toSorted((a, b) => Number(b === FIRST) - Number(a === FIRST) || a.localeCompare(b));
  const columns: Column[] = [];
  for (const folder of folders) {
    const files = await readdir(path.join(DRIVERS, folder));
    if (!files.includes("implementations.ts")) continue;
    const loaded = (await import(pathToFileURL(path.join(DRIVERS, folder, "implementations.ts")).href)) as {
      readonly IMPLEMENTATIONS: readonly Implementation[];
    };
    const { IMPLEMENTATIONS: implementations } = loaded;
    const knownFailing = files.includes("known-failing.txt") ? await readFile(path.join(DRIVERS, folder, "known-failing.txt"), "utf8") : "";
    const siblings = implementations.map(({ name }) => name);
    columns.push(
      ...implementations.map((implementation) => ({
        ...implementation,
        knownFailing,
        knownFailingFile: `test/contract/drivers/${folder}/known-failing.txt`,
        siblings,
      })),
    );
  }
  return columns;
}
