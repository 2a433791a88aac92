import fc from "fast-check";
import { expect, test } from "vitest";
import { applyHunks } from "../patch/apply-hunks.ts";
import { parseUnifiedDiff } from "../patch/parse-unified-diff.ts";
import { decodeText } from "../workspace/text-content.ts";
import { FileDiffs } from "./file-diff.ts";

const diff = (before: string | undefined, after: string | undefined, path = "a.txt") =>
  new FileDiffs().of(path, before === undefined ? undefined : Buffer.from(before), after === undefined ? undefined : Buffer.from(after));

test("says what was added and removed, and where a newline is missing", () => {
  expect(diff("a\nb", "a\nc\n")).toEqual({
    text: "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n",
    added: 1,
    removed: 1,
  });
});

test("files that are made and deleted", () => {
  expect(diff(undefined, "a\n").text).toBe("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+a\n");
  expect(diff("a\n", undefined).text).toBe("--- a/a.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n");
});

test("a name that is more than one line can't pretend to be a diff", () => {
  expect(diff("a\n", "b\n", "x\n+++ b/y").text.split("\n").slice(0, 2)).toEqual(['--- "a/x\\n+++ b/y"', '+++ "b/x\\n+++ b/y"']);
});

test("what is no text, and what is too much to compare, is told as that, in time", () => {
  expect(diff("\0", "a\n").text).toContain("Binary files differ (1 and 2 bytes)");
  const random = (seed: number) => Array.from({ length: 60_000 }, (_, index) => `${(index * seed) % 1_000_003}`).join("\n");
  const diffs = new FileDiffs();
  const startedAt = performance.now();
  for (let index = 0; index < 5; index++) {
    const { added, removed, text } = diffs.of("a.txt", Buffer.from(random(7919)), Buffer.from(random(104_729)));
    expect([added > 1_000, removed > 1_000, text.length > 50]).toEqual([true, true, true]);
  }
  const { text } = diffs.of("a.txt", Buffer.from("a\n".repeat(150_000)), Buffer.from(`${"b\n".repeat(150_000)}c`));
  expect(text).toBe(
    `--- a/a.txt\n+++ b/a.txt\n@@ -1,150000 +1,150001 @@\n${"-a\n".repeat(150_000)}${"+b\n".repeat(150_000)}+c\n\\ No newline at end of file\n`,
  );
  // Two seconds of it are allowed; the rest is for a slow machine.
  expect(performance.now() - startedAt).toBeLessThan(15_000);
});

test("is a patch that makes the one into the other, whatever their line ends, names and last lines are", () => {
  const line = fc.tuple(fc.constantFrom("a", "b", "", "--- x", "+++ y", "@@ -1 +1 @@", "é"), fc.constantFrom("\n", "\n", "\r\n"));
  const text = fc.tuple(fc.array(line, { maxLength: 20 }), fc.constantFrom("", "last", "last\r")).map(([lines, last]) => lines.flat().join("") + last);
  const mark = fc.boolean();
  const path = fc.constantFrom("a.txt", "with space.txt", "gr\u00fcn.txt", 'quote".txt', "line\nend.txt", "b/a/b.txt");
  fc.assert(
    fc.property(text, text, mark, path, (before, after, hasMark, name) => {
      fc.pre(before !== after);
      const bytes = (content: string) => Buffer.from(hasMark ? `\ufeff${content}` : content);
      const patch = new FileDiffs().of(name, bytes(before), bytes(after)).text;
      const [file] = parseUnifiedDiff(patch);
      expect([file?.oldPath, file?.newPath]).toEqual([name, name]);
      expect(applyHunks({ path: name, text: decodeText(bytes(before), "").text, encoding: "utf-8" }, file?.hunks ?? [])).toBe(after);
    }),
    { numRuns: 500 },
  );
});
