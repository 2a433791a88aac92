import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { CHECKS } from "./checks.ts";
import { type CheckResult, report, tally, type VitestResult } from "./tally.ts";
import { SUMMARY_FILE_VARIABLE, type TestSummary } from "./test-summary.ts";

// The test command: every check, then every test, then one line over all of them. With arguments it runs the tests that they choose, and no checks:
// `npm test -- libs/domain -t "cancel"`.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const CHECK_MS_MAX = 5 * 60_000;
// The fault tests kill and restart real processes for minutes; what takes longer than this hangs.
const VITEST_MS_MAX = 45 * 60_000;
const run = execa({ cwd: ROOT, preferLocal: true, localDir: ROOT, reject: false, forceKillAfterDelay: 10_000 });

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

async function runChecks(): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { name, command } of CHECKS) {
    const [file, ...args] = command;
    const { failed, timedOut, all, durationMs, shortMessage } = await run(file, args, { all: true, timeout: CHECK_MS_MAX });
    console.log(`${failed ? "failed" : "passed"}: ${name}, ${seconds(durationMs)}`);
    if (failed) console.log(timedOut || !all ? shortMessage : all);
    results.push({ name, passed: !failed });
  }
  return results;
}

async function readSummary(file: string): Promise<TestSummary | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as TestSummary;
  } catch {
    // No summary, or half of one: vitest died before it was written, which the caller counts as a failure.
    return undefined;
  }
}

async function runVitest(args: readonly string[]): Promise<VitestResult> {
  const directory = await mkdtemp(join(tmpdir(), "forge-check-"));
  const file = join(directory, "summary.json");
  try {
    // A forgotten `it.only` would hide every other test, so it is an error.
    const options = ["run", "--allowOnly=false", "--reporter=default", "--reporter=./tools/check/src/summary-reporter.ts"];
    const { exitCode } = await run("vitest", [...options, ...args], { stdio: "inherit", env: { [SUMMARY_FILE_VARIABLE]: file }, timeout: VITEST_MS_MAX });
    return { exitCode, summary: await readSummary(file) };
  } finally {
    await rm(directory, { recursive: true });
  }
}

const args = process.argv.slice(2);
const wholeRun = args.length === 0;
const checks = wholeRun ? await runChecks() : [];
const total = tally(checks, await runVitest(args), wholeRun);
console.log(report(total));
process.exitCode = total.failed.length === 0 ? 0 : 1;
