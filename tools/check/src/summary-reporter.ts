import { writeFile } from "node:fs/promises";
import type { Reporter, TestCase, TestModule, TestSuite } from "vitest/node";
import { type SkippedTest, SUMMARY_FILE_VARIABLE, type TestSummary } from "./test-summary.ts";

function nameOf(part: TestCase | TestSuite | TestModule): string {
  const module = part.type === "module" ? part : part.module;
  return [module.project.name, module.relativeModuleId, ...(part.type === "module" ? [] : [part.fullName])].join(" > ");
}

/** Sums up a run. Whatever went wrong counts: a test, a hook, a file that can't be loaded, an error that no test caught, a run that was broken off. */
export function summarize(modules: readonly TestModule[], unhandledErrors: readonly { readonly message: string }[], reason: string): TestSummary {
  let passed = 0;
  const failed: string[] = [];
  const skipped: SkippedTest[] = [];
  for (const module of modules) {
    if (module.errors().length > 0) failed.push(`${nameOf(module)} (outside of its tests)`);
    for (const suite of module.children.allSuites()) {
      if (suite.errors().length > 0) failed.push(`${nameOf(suite)} (outside of its tests)`);
    }
    for (const test of module.children.allTests()) {
      const result = test.result();
      if (result.state === "passed") passed++;
      else if (result.state === "skipped") skipped.push({ name: nameOf(test), reason: result.note });
      else failed.push(result.state === "pending" ? `${nameOf(test)} (did not finish)` : nameOf(test));
    }
  }
  for (const { message } of unhandledErrors) failed.push(`an error that no test caught: ${message.split("\n", 1)[0] ?? ""}`);
  if (reason === "interrupted") failed.push("the run was broken off");
  return { passed, failed, skipped };
}

/** Vitest's way to us: writes the summary of the run to the file that the environment names. */
export default class SummaryReporter implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly { readonly message: string }[], reason: string): Promise<void> {
    const file = process.env[SUMMARY_FILE_VARIABLE];
    if (file === undefined) throw new Error(`${SUMMARY_FILE_VARIABLE} is not set`);
    await writeFile(file, JSON.stringify(summarize(modules, unhandledErrors, reason)));
  }
}
