import type { SkippedTest, TestSummary } from "./test-summary.ts";

/** A check that passes or fails as a whole, for example the type check. */
export interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
}

/** How a test runner ended; the summary is absent where it wrote none. */
export interface TestRun {
  readonly runner: "vitest" | "pytest";
  /** Absent where a signal ended it. */
  readonly exitCode: number | undefined;
  readonly summary: TestSummary | undefined;
  /** Why it had to be ended. */
  readonly problem?: string;
}

/** Everything that was run, counted as one. */
export interface Tally {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly skipped: readonly SkippedTest[];
}

function failuresOf({ runner, exitCode, summary, problem }: TestRun, wholeRun: boolean): string[] {
  const failed = problem === undefined ? [] : [`${runner} ${problem}`];
  if (summary === undefined) return failed.length > 0 ? failed : [`${runner} ended without a summary (exit code ${exitCode ?? "none"})`];
  failed.push(...summary.failed);
  // A filter skips what it leaves out; only a whole run can ask each skipped test for its reason.
  if (wholeRun) failed.push(...summary.skipped.filter(({ reason }) => !reason).map(({ name }) => `${name} (skipped without a reason)`));
  if (failed.length === 0 && summary.passed === 0) failed.push(`${runner} found no tests`);
  if (failed.length === 0 && exitCode !== 0) failed.push(`${runner} ended with exit code ${exitCode ?? "none"} though no test failed`);
  return failed;
}

/** Counts checks and tests together. `wholeRun` is false where a filter chose the tests; `leftOut` is what could not be run at all. */
export function tally(checks: readonly CheckResult[], runs: readonly TestRun[], wholeRun: boolean, leftOut: readonly SkippedTest[] = []): Tally {
  const skipped = [...leftOut, ...runs.flatMap(({ summary }) => summary?.skipped ?? [])];
  return {
    passed: checks.filter(({ passed }) => passed).length + runs.reduce((sum, { summary }) => sum + (summary?.passed ?? 0), 0),
    failed: [...checks.filter(({ passed }) => !passed).map(({ name }) => name), ...runs.flatMap((run) => failuresOf(run, wholeRun))],
    skipped: skipped.filter(({ reason }) => wholeRun || reason),
  };
}

/** What a person reads at the end; the last line is for machines as well. */
export function report({ passed, failed, skipped }: Tally): string {
  return [
    ...skipped.map(({ name, reason }) => `skipped: ${name}: ${reason ?? "no reason given"}`),
    ...failed.map((name) => `failed: ${name}`),
    `${passed} passed, ${failed.length} failed`,
  ].join("\n");
}
