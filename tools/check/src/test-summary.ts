/** What one run of vitest came to. Crosses from vitest's process to ours as JSON. */
export interface TestSummary {
  readonly passed: number;
  /** The name of each test that failed or did not finish, and of each file, suite or process that failed outside of its tests. */
  readonly failed: readonly string[];
  readonly skipped: readonly SkippedTest[];
}

/** A test that did not run. */
export interface SkippedTest {
  readonly name: string;
  /** What it gave to `ctx.skip(reason)`. */
  readonly reason?: string | undefined;
}

/** The environment variable that names the file which the reporter writes its summary to. */
export const SUMMARY_FILE_VARIABLE = "FORGE_TEST_SUMMARY_FILE";
