import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { CHECKS } from "./checks.ts";
import { PYTHON_PACKAGE, runPython } from "./run-python.ts";
import { runVitest } from "./run-vitest.ts";
import { type CheckResult, report, type TestRun, tally } from "./tally.ts";
import type { SkippedTest } from "./test-summary.ts";

// The test command: every check, then every test, then one line over all of them. With arguments it runs the tests that they choose, and no checks:
// `npm test -- libs/domain -t "cancel"`, `npm test -- libs/client-python/tests/test_retry.py`.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const CHECK_MS_MAX = 10 * 60_000;
// The fault tests kill and restart real processes for minutes; what takes longer than this hangs.
const PYTHON_MS_MAX = 10 * 60_000;
const LIMITS = { runMsMax: 45 * 60_000, exitMsMax: 60_000 };
// A forgotten `it.only` would hide every other test, so it is an error.
const VITEST_OPTIONS = ["--allowOnly=false", "--reporter=default", "--reporter=./tools/check/src/summary-reporter.ts"];

async function runChecks(): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { name, command } of CHECKS) {
    const [file, ...args] = command;
    const options = { cwd: ROOT, preferLocal: true, localDir: ROOT, reject: false, all: true, timeout: CHECK_MS_MAX, forceKillAfterDelay: 10_000 } as const;
    const { failed, timedOut, all, durationMs, shortMessage } = await execa(file, args, options);
    console.log(`${failed ? "failed" : "passed"}: ${name}, ${(durationMs / 1000).toFixed(1)} s`);
    if (failed) console.log(timedOut || !all ? shortMessage : all);
    results.push({ name, passed: !failed });
  }
  return results;
}

interface PartResult {
  readonly checks: readonly CheckResult[];
  readonly runs: readonly TestRun[];
  readonly leftOut?: readonly SkippedTest[];
}

/** The Python package's. Where Python is missing it is left out, which CI does not allow. */
async function python(chosen: readonly string[]): Promise<PartResult> {
  const { checks, run, missing } = await runPython(ROOT, chosen, PYTHON_MS_MAX);
  if (missing === undefined) return { checks, runs: run === undefined ? [] : [run] };
  if ((process.env["CI"] ?? "") !== "") return { checks: [{ name: `the Python package: ${missing}. In CI nothing is left out`, passed: false }], runs: [] };
  return { checks: [], runs: [], leftOut: [{ name: "the Python package", reason: missing }] };
}

const args = process.argv.slice(2);
const wholeRun = args.length === 0;
const ofPython = args.filter((arg) => arg.startsWith(PYTHON_PACKAGE));
const onlyPython = ofPython.length > 0 && ofPython.length === args.length;
const checks = wholeRun ? await runChecks() : [];
const runs = onlyPython ? [] : [await runVitest(ROOT, [...VITEST_OPTIONS, ...args], LIMITS)];
const inPython: PartResult = wholeRun || onlyPython ? await python(ofPython) : { checks: [], runs: [] };
const total = tally([...checks, ...inPython.checks], [...runs, ...inPython.runs], wholeRun, inPython.leftOut);
console.log(report(total));
process.exitCode = total.failed.length === 0 ? 0 : 1;
