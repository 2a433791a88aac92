import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyHunks } from "./apply-hunks.ts";
import { parseUnifiedDiff } from "./parse-unified-diff.ts";

function apply(text: string, hunks: string, encoding: "utf-8" | "latin-1" = "utf-8"): string {
  const [file] = parseUnifiedDiff(`--- a/x\n+++ b/x\n${hunks}`);
  return applyHunks({ path: "x", text, encoding }, file?.hunks ?? []);
}

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join("");

describe("line ends", () => {
  test("a one-line patch without carriage returns keeps a CRLF file without a final newline", () => {
    expect(apply("a\r\nb\r\nc", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n")).toBe("a\r\nB\r\nc");
    expect(apply("a\r\nb\r\nc", "@@ -2,2 +2,2 @@\n b\n-c\n+C\n")).toBe("a\r\nb\r\nC");
    expect(apply("a\r\nb\r\nc", "@@ -3 +3,2 @@\n-c\n+c\n+d\n")).toBe("a\r\nb\r\nc\r\nd");
    expect(apply("a\r\nb\r\nc", "@@ -3 +3,2 @@\n c\n+d\n")).toBe("a\r\nb\r\nc\r\nd");
    expect(apply("c\r\nd", "@@ -2 +2 @@\n-d\n+e\n")).toBe("c\r\ne");
  });

  test("a patch with carriage returns fits both kinds of file", () => {
    expect(apply("a\r\nb\r\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n")).toBe("a\r\nB\r\n");
    expect(apply("a\nb\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n")).toBe("a\nB\n");
  });

  test("a patch can change line ends, where it has the file's own", () => {
    expect(apply("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\r\n")).toBe("a\nb\r\n");
  });

  test("each line of a mixed file keeps its own, and a new one ends like the one that it replaces or follows", () => {
    expect(apply("a\r\nb\nc\r\nd\n", "@@ -1,4 +1,5 @@\n a\n-b\n+B\n c\n+new\n d\n")).toBe("a\r\nB\nc\r\nnew\r\nd\n");
  });

  test("a carriage return that stands alone is text", () => {
    expect(apply("a\rb\nc\n", "@@ -1,2 +1,2 @@\n a\rb\n-c\n+d\n")).toBe("a\rb\nd\n");
  });
});

describe("the newline at the file's end", () => {
  test.each([
    ["stays missing where the patch does not say", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc"],
    ["stays missing where the patch says so", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline\n+c\n\\ No newline\n", "a\nc"],
    ["is added where the patch says so", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline\n+b\n", "a\nb\n"],
    ["is removed where the patch says so", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline\n", "a\nb"],
    ["stays", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc\n"],
    ["of a line that becomes the last one stays", "a\nb", "@@ -1,2 +1 @@\n a\n-b\n", "a\n"],
    ["is missing after a line that is added at the end", "a", "@@ -1 +1,2 @@\n a\n+b\n", "a\nb"],
  ])("%s", (_, text, hunks, result) => {
    expect(apply(text, hunks)).toBe(result);
  });

  test("can't be said of a line in the middle, nor of one that has it", () => {
    expect(() => apply("a\nb\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\\ No newline\n")).toThrow(/is not the file's last one/);
    expect(() => apply("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline\n+c\n")).toThrow(/line 2 should be the last one and have no newline/);
  });
});

describe("the place", () => {
  test("may be a little away from where the header says", () => {
    expect(apply(numbered(1, 60), "@@ -10,3 +10,3 @@\n line 49\n-line 50\n+fifty\n line 51\n")).toBe(numbered(1, 60).replace("line 50", "fifty"));
  });

  test("is not looked for far away", () => {
    expect(() => apply(numbered(1, 300), "@@ -1,2 +1,2 @@\n line 249\n-line 250\n+x\n")).toThrow(
      /hunk 1 .* does not match|line 1 should be "line 249" and is "line 1"/,
    );
  });

  test("follows from the hunks before it", () => {
    const text = numbered(1, 20);
    const hunks = "@@ -1,2 +1,3 @@\n line 1\n+new\n line 2\n@@ -18,3 +19,2 @@\n line 18\n-line 19\n line 20\n";
    expect(apply(`top\n${text}`, hunks)).toBe(`top\n${text.replace("line 1\n", "line 1\nnew\n").replace("line 19\n", "")}`);
  });

  test("that could be more than one is refused, unless the header says exactly which", () => {
    const text = "{\n}\nx\n{\n}\n";
    expect(apply(text, "@@ -4,2 +4,2 @@\n {\n-}\n+end\n")).toBe("{\n}\nx\n{\nend\n");
    expect(() => apply(text, "@@ -3,2 +3,2 @@\n {\n-}\n+end\n")).toThrow(/x: hunk 1 .*2 times near line 3, at lines 1, 4/);
  });

  test("is never before the end of the hunk before", () => {
    expect(() => apply("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -1,2 +1,2 @@\n a\n-b\n+d\n")).toThrow(/hunk 2/);
  });

  test("that does not match is told with the line, and what was found there", () => {
    expect(() => apply("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-B\n+x\n c\n")).toThrow(
      /x: hunk 1 \(@@ -1,3 \+1,3 @@\): line 2 should be "B" and is "b"; nothing was changed/,
    );
    expect(() => apply("a\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n")).toThrow(/line 2 should be "b", and the file has 1 lines/);
    expect(() => apply("a\n", "@@ -0,0 +1 @@\n+new\n")).toThrow(/names no line of the file/);
  });

  test("differs by white space alone: no fuzz", () => {
    expect(() => apply("  a\n", "@@ -1 +1 @@\n-\ta\n+b\n")).toThrow(/should be "\\ta" and is " {2}a"/);
  });
});

test("into an empty file", () => {
  expect(apply("", "@@ -0,0 +1,2 @@\n+a\n+b\n")).toBe("a\nb\n");
  expect(apply("", "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n")).toBe("a");
});

test("of a file that is no UTF-8, other letters than it has are refused", () => {
  expect(apply("caf\u00e9\nb\n", "@@ -1,2 +1,2 @@\n café\n-b\n+c\n", "latin-1")).toBe("caf\u00e9\nc\n");
  expect(() => apply("a\n\u00e9\n", "@@ -1 +1 @@\n-a\n+ü\n", "latin-1")).toThrow(/is not UTF-8, so that "ü" can't be written/);
});

test("what a diff says of two texts makes one into the other", () => {
  const line = fc.constantFrom("a", "b", "c", "", "  d", "-x", "+y", "\\ z");
  const text = fc.tuple(fc.array(line, { maxLength: 30 }), fc.boolean()).map(([lines, ends]) => lines.join("\n") + (ends && lines.length > 0 ? "\n" : ""));
  fc.assert(
    fc.property(text, text, fc.integer({ min: 1, max: 4 }), (before, after, context) => {
      fc.pre(before !== after);
      const patch = createTwoFilesPatch("a/x", "b/x", before, after, undefined, undefined, { context });
      const [file] = parseUnifiedDiff(patch);
      expect(applyHunks({ path: "x", text: before, encoding: "utf-8" }, file?.hunks ?? [])).toBe(after);
    }),
    { numRuns: 300 },
  );
});
