import { watch } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { readSummary } from "./read-summary.ts";
import type { TestRun } from "./tally.ts";
import { SUMMARY_FILE_VARIABLE } from "./test-summary.ts";

/** How long vitest may take, in milliseconds. */
export interface VitestLimits {
  readonly runMsMax: number;
  /** From the summary to the end of the process: what a test left open must not hold it forever. */
  readonly exitMsMax: number;
}

/** Runs vitest in `root` with these arguments, its output on ours. */
export async function runVitest(root: string, args: readonly string[], { runMsMax, exitMsMax }: VitestLimits): Promise<TestRun> {
  const directory = await mkdtemp(join(tmpdir(), "forge-check-"));
  const file = join(directory, "summary.json");
  const overdue = new AbortController();
  let exitTimer: NodeJS.Timeout | undefined;
  const watcher = watch(directory, () => {
    exitTimer ??= setTimeout(() => overdue.abort(), exitMsMax);
  });
  try {
    const { exitCode, timedOut, isCanceled } = await execa("vitest", ["run", ...args], {
      cwd: root,
      preferLocal: true,
      localDir: root,
      reject: false,
      stdio: "inherit",
      env: { [SUMMARY_FILE_VARIABLE]: file },
      timeout: runMsMax,
      cancelSignal: overdue.signal,
      forceKillAfterDelay: 10_000,
    });
    return {
      runner: "vitest",
      exitCode,
      summary: await readSummary(file),
      ...(timedOut && { problem: "did not come to an end in time" }),
      ...(isCanceled && { problem: "did not exit after its last test: a test left something open" }),
    };
  } finally {
    clearTimeout(exitTimer);
    watcher.close();
    await rm(directory, { recursive: true });
  }
}
