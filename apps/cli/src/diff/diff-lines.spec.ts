import { describe, expect, it } from "vitest";
import { PLAIN } from "../output/style.ts";
import { diffLines } from "./diff-lines.ts";

const MARKED = { ...PLAIN, red: (text: string) => `<${text}>`, green: (text: string) => `[${text}]`, bold: (text: string) => `*${text}*` };

describe("a diff on a terminal", () => {
  it("is coloured by line, and a removed line that begins with dashes is one", () => {
    const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n--- gone\n same\n";
    expect(diffLines(diff, { style: MARKED, columns: 60, linesMax: 10 })).toEqual(["*--- a/x*", "*+++ b/x*", "@@ -1,2 +1,1 @@", "<--- gone>", " same"]);
  });

  it("hides nothing: a carriage return, an escape and a turned direction are seen", () => {
    expect(diffLines("+a\r\n+\u001B[2Jb\u202Ec\n", { style: PLAIN, columns: 60, linesMax: 10 })).toEqual(["+a␍", "+␛[2Jb�c"]);
  });

  it("is bounded in both directions", () => {
    const lines = diffLines(`+${"x".repeat(100)}\n`.repeat(10), { style: PLAIN, columns: 10, linesMax: 3 });
    expect(lines).toEqual([...Array.from({ length: 3 }, () => `+${"x".repeat(8)}…`), "… 7 more lines"]);
  });
});
