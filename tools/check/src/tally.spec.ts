import { describe, expect, it } from "vitest";
import { report, tally } from "./tally.ts";

const GREEN = { runner: "vitest" as const, exitCode: 0, summary: { passed: 3, failed: [], skipped: [] } };

describe("tally", () => {
  it("counts checks and tests together", () => {
    const checks = [
      { name: "types", passed: true },
      { name: "lint", passed: false },
    ];
    const summary = { passed: 3, failed: ["unit > a.spec.ts > b"], skipped: [] };
    expect(tally(checks, [{ ...GREEN, exitCode: 1, summary }], true)).toEqual({ passed: 4, failed: ["lint", "unit > a.spec.ts > b"], skipped: [] });
  });

  it.each([
    ["no summary", { ...GREEN, exitCode: 1, summary: undefined }, "vitest ended without a summary (exit code 1)"],
    ["no summary, though it says all is well", { ...GREEN, summary: undefined }, "vitest ended without a summary (exit code 0)"],
    ["an exit code that no test explains", { ...GREEN, exitCode: 1 }, "vitest ended with exit code 1 though no test failed"],
    ["a run that had to be ended", { ...GREEN, exitCode: undefined, problem: "did not exit" }, "vitest did not exit"],
    ["a run that had to be ended early", { ...GREEN, exitCode: undefined, summary: undefined, problem: "took too long" }, "vitest took too long"],
    ["a signal", { ...GREEN, exitCode: undefined }, "vitest ended with exit code none though no test failed"],
    ["no tests", { ...GREEN, summary: { passed: 0, failed: [], skipped: [] } }, "vitest found no tests"],
    ["a skip that does not say why", { ...GREEN, summary: { passed: 1, failed: [], skipped: [{ name: "a" }] } }, "a (skipped without a reason)"],
  ])("counts %s as a failure", (_name, run, failure) => {
    expect(tally([], [run], true).failed).toEqual([failure]);
  });

  it("counts what every runner ran, and names the one that failed", () => {
    const pytest = { runner: "pytest" as const, exitCode: 1, summary: { passed: 2, failed: [], skipped: [{ name: "b", reason: "needs a moon" }] } };
    expect(tally([], [GREEN, pytest], true)).toEqual({
      passed: 5,
      failed: ["pytest ended with exit code 1 though no test failed"],
      skipped: [{ name: "b", reason: "needs a moon" }],
    });
  });

  it("lists what could not be run at all", () => {
    const leftOut = [{ name: "the Python package", reason: "Python is not installed" }];
    expect(tally([], [GREEN], true, leftOut)).toEqual({ passed: 3, failed: [], skipped: leftOut });
  });

  it("lists a skip with its reason, and passes over what a filter left out", () => {
    const run = { ...GREEN, summary: { passed: 1, failed: [], skipped: [{ name: "a", reason: "needs DATABASE_URL" }, { name: "b" }] } };
    expect(tally([], [run], false)).toEqual({ passed: 1, failed: [], skipped: [{ name: "a", reason: "needs DATABASE_URL" }] });
  });
});

describe("report", () => {
  it("ends with the one line, and a green run has nothing else to say", () => {
    expect(report(tally([], [GREEN], true))).toBe("3 passed, 0 failed");
  });

  it("names what was skipped and what failed before it", () => {
    const total = { passed: 2, failed: ["lint", "b"], skipped: [{ name: "c", reason: "why" }] };
    expect(report(total)).toBe("skipped: c: why\nfailed: lint\nfailed: b\n2 passed, 2 failed");
  });
});
