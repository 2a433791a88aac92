import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import type { Launch } from "../../suite/driver-process.ts";
import type { Implementation, Missing } from "../../suite/implementations.ts";

const SOURCE = import.meta.dirname;
const PROGRAM = path.resolve(SOURCE, "../../../../node_modules/.cache/forge-contract/go-driver");
/** As in go.mod. */
const MINOR_MIN = 24;
/** The first build fetches and compiles what it needs. */
const BUILD_MS_MAX = 5 * 60_000;

export const IMPLEMENTATIONS: readonly Implementation[] = [{ name: "go", language: "Go", start }];

/** Builds the driver; Go's own cache makes that a second where nothing has changed. */
async function start(): Promise<Launch | Missing> {
  const version = await versionOfGo();
  if (version === undefined) return { missing: `Go is not installed: version 1.${MINOR_MIN} or newer is needed` };
  if (version < MINOR_MIN) return { missing: `Go 1.${version} is too old: version 1.${MINOR_MIN} or newer is needed` };
  // Never another toolchain than the one that is there, nor other modules than those in go.sum.
  const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly -buildvcs=false -trimpath", CGO_ENABLED: "0" };
  await promisify(execFile)("go", ["build", "-o", PROGRAM, "."], { cwd: SOURCE, env, timeout: BUILD_MS_MAX });
  return { command: PROGRAM, args: [] };
}

/** Its minor version; undefined where there is none. */
async function versionOfGo(): Promise<number | undefined> {
  try {
    const { stdout } = await promisify(execFile)("go", ["env", "GOVERSION"], { env: { ...process.env, GOTOOLCHAIN: "local" } });
    return Number(/^go1\.(\d+)/.exec(stdout.trim())?.[1] ?? Number.MAX_SAFE_INTEGER);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
