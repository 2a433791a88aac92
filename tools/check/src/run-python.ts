import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { findPython } from "@forge/python";
import { execa } from "execa";
import { readSummary } from "./read-summary.ts";
import type { CheckResult, TestRun } from "./tally.ts";
import { SUMMARY_FILE_VARIABLE } from "./test-summary.ts";

/** The package's directory in the repository; arguments that begin with it choose tests of it. */
export const PYTHON_PACKAGE = "libs/client-python";
/** The package and the Python that is not in it, as seen from the package. */
const SOURCES = [".", "../../test/contract/drivers/python", "../../tools/python/src", "../../tools/check/src"];
const CHECK_MS_MAX = 2 * 60_000;

/** What came of the Python package, or why nothing did. */
export interface PythonResult {
  readonly checks: readonly CheckResult[];
  readonly run?: TestRun;
  /** What this machine lacks. */
  readonly missing?: string;
}

/** Checks the style and the types of all Python, where nothing was chosen, and runs the package's tests, their output on ours. */
export async function runPython(root: string, chosen: readonly string[], runMsMax: number): Promise<PythonResult> {
  const python = await findPython();
  if (typeof python !== "string") return { checks: [], missing: python.missing };
  const checks: CheckResult[] = [];
  if (chosen.length === 0) {
    const settings = ["--no-cache", "--config", "pyproject.toml", ...SOURCES];
    checks.push(await check(root, "lint of Python (ruff)", python, ["-B", "-m", "ruff", "check", ...settings]));
    checks.push(await check(root, "format of Python (ruff)", python, ["-B", "-m", "ruff", "format", "--check", ...settings]));
    checks.push(await check(root, "types of Python (pyright)", "pyright", ["--pythonpath", python]));
  }
  return { checks, run: await runPytest(root, python, chosen, runMsMax) };
}

async function check(root: string, name: string, file: string, args: readonly string[]): Promise<CheckResult> {
  const { failed, timedOut, all, durationMs, shortMessage } = await execa(file, args, {
    cwd: path.join(root, PYTHON_PACKAGE),
    preferLocal: true,
    localDir: root,
    reject: false,
    all: true,
    timeout: CHECK_MS_MAX,
    forceKillAfterDelay: 10_000,
  });
  console.log(`${failed ? "failed" : "passed"}: ${name}, ${(durationMs / 1000).toFixed(1)} s`);
  if (failed) console.log(timedOut || !all ? shortMessage : all);
  return { name, passed: !failed };
}

async function runPytest(root: string, python: string, chosen: readonly string[], runMsMax: number): Promise<TestRun> {
  const directory = await mkdtemp(path.join(tmpdir(), "forge-check-"));
  const file = path.join(directory, "summary.json");
  const tests = chosen.length === 0 ? ["tests"] : chosen.map((each) => path.relative(PYTHON_PACKAGE, each) || "tests");
  try {
    const { exitCode, timedOut } = await execa(python, ["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_summary", ...tests], {
      cwd: path.join(root, PYTHON_PACKAGE),
      reject: false,
      stdio: ["ignore", "inherit", "inherit"],
      env: { [SUMMARY_FILE_VARIABLE]: file, PYTHONPATH: import.meta.dirname },
      timeout: runMsMax,
      forceKillAfterDelay: 10_000,
    });
    return { runner: "pytest", exitCode, summary: await readSummary(file), ...(timedOut && { problem: "did not come to an end in time" }) };
  } finally {
    await rm(directory, { recursive: true });
  }
}
