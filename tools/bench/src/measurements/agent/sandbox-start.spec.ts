import { describe, expect, it } from "vitest";
import { formatMarkdown, formatShortfalls } from "../../report/format.ts";
import { notMeasured } from "./sandbox-start.ts";

describe("a machine without the sandbox", () => {
  it("is told what it lacks, and meets no target", () => {
    const sections = [notMeasured(["the program bwrap", "a filter of system calls"])];
    expect(formatMarkdown(sections)).toContain("this machine lacks the program bwrap, a filter of system calls.");
    expect(formatMarkdown(sections)).toContain("| the sandbox by itself, not measured | - | - | - | ms |  | at most 60 ms | not met |");
    expect(formatShortfalls(sections)).toContain("the sandbox with the proxy by itself, not measured");
  });
});
