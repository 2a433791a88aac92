import { readFile } from "node:fs/promises";
import type { TestSummary } from "./test-summary.ts";

/** What a run wrote. No summary, or half of one: the runner died before it was written, which the caller counts as a failure. */
export async function readSummary(file: string): Promise<TestSummary | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as TestSummary;
  } catch {
    // Told by its absence.
    return undefined;
  }
}
