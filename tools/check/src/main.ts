import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { CHECKS } from "./checks.ts";
import { runVitest } from "./run-vitest.ts";
import { type CheckResult, report, tally } from "./tally.ts";

// The test command: every check, then every test, then one line over all of them. With arguments it runs the tests that they choose, and no checks:
// `npm test -- libs/domain -t "cancel"`.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const CHECK_MS_MAX = 5 * 60_000;
// The fault tests kill and restart real processes for minutes; what takes longer than this hangs.
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

const args = process.argv.slice(2);
const wholeRun = args.length === 0;
const checks = wholeRun ? await runChecks() : [];
const total = tally(checks, await runVitest(ROOT, [...VITEST_OPTIONS, ...args], LIMITS), wholeRun);
console.log(report(total));
process.exitCode = total.failed.length === 0 ? 0 : 1;
