import { fileURLToPath } from "node:url";
import { execa } from "execa";

/** Why this machine can't run the package's tests, and what to install. */
export interface PythonMissing {
  readonly missing: string;
}

const SCRIPT = fileURLToPath(new URL("./environment.py", import.meta.url));
const MAKE_MS_MAX = 300_000;
/** What the script ends with where this machine's Python is too old or lacks a part. */
const UNFIT = 3;

let found: Promise<string | PythonMissing> | undefined;

/**
 * The path of a Python interpreter that has the package forge-client of this checkout, and the tools that check it, each at the version that requirements.txt
 * pins. Made once, which takes a quarter of a minute and the package index. Errors: one that could not be made.
 */
export function findPython(): Promise<string | PythonMissing> {
  found ??= make();
  return found;
}

async function make(): Promise<string | PythonMissing> {
  const { failed, code, exitCode, stdout, stderr, shortMessage } = await execa("python3", [SCRIPT], { reject: false, timeout: MAKE_MS_MAX });
  if (code === "ENOENT") return { missing: "Python is not installed: 3.10 or newer with venv is needed (on Debian: apt-get install python3 python3-venv)" };
  if (exitCode === UNFIT) return { missing: stderr };
  if (failed) throw new Error(`the Python environment of the tests could not be made: ${shortMessage}\n${stderr}`);
  return stdout;
}
