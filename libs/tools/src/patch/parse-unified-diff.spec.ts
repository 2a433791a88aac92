import { describe, expect, test } from "vitest";
import { parseUnifiedDiff } from "./parse-unified-diff.ts";

const HUNK = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n";

describe("paths", () => {
  test.each([
    ["--- a/x.ts\n+++ b/x.ts\n", "x.ts", "x.ts"],
    ["--- x.ts\n+++ x.ts\n", "x.ts", "x.ts"],
    ["--- a/x.ts\n+++ a/x.ts\n", "a/x.ts", "a/x.ts"],
    ["--- a/x.ts\t2024-01-01 00:00:00\n+++ b/x.ts\t2024-01-02 00:00:00\n", "x.ts", "x.ts"],
    ["--- a/x y.ts\n+++ b/x y.ts\n", "x y.ts", "x y.ts"],
    ['--- "a/gr\\303\\274n\\t.ts"\n+++ "b/gr\\303\\274n\\t.ts"\n', "grün\t.ts", "grün\t.ts"],
    ["diff --git a/x.ts b/x.ts\nindex 1..2 100644\n--- a/x.ts\n+++ b/x.ts\n", "x.ts", "x.ts"],
    ["some words\n```diff\n--- a/x.ts\r\n+++ b/x.ts\r\n", "x.ts", "x.ts"],
    ["--- /dev/null\n+++ b/x.ts\n", undefined, "x.ts"],
    ["--- a/x.ts\n+++ /dev/null\n", "x.ts", undefined],
    ["diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n", "x", "y"],
  ])("%j", (header, oldPath, newPath) => {
    expect(parseUnifiedDiff(header + HUNK)).toMatchObject([{ oldPath, newPath, hunks: [{ oldStart: 1 }] }]);
  });
});

test("more than one file, with what git says of modes, renames and empty files", () => {
  const patch = [
    "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n",
    "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n",
    "diff --git a/empty b/empty\nnew file mode 100644\nindex 0..1\n",
    "diff --git a/gone b/gone\ndeleted file mode 100644\nindex 0..1\n",
    `--- a/x\n+++ b/x\n${HUNK}-- \n2.40.0\n`,
  ];
  expect(parseUnifiedDiff(patch.join(""))).toMatchObject([
    { oldPath: "run.sh", newPath: "run.sh", isExecutable: true, hunks: [] },
    { oldPath: "old", newPath: "new", hunks: [] },
    { oldPath: undefined, newPath: "empty", isExecutable: false, hunks: [] },
    { oldPath: "gone", newPath: undefined, hunks: [] },
    { oldPath: "x", newPath: "x" },
  ]);
});

test("lines that look like headers are lines where the hunk counts them", () => {
  const [file] = parseUnifiedDiff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n z\n");
  expect(file?.hunks[0]?.lines).toMatchObject([
    { kind: "remove", text: "-- a/y" },
    { kind: "add", text: "++ b/y" },
    { kind: "context", text: "z" },
  ]);
});

test("an empty line is an empty context line, and a backslash says that there is no newline", () => {
  const [file] = parseUnifiedDiff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n\n-b\n\\ No newline at end of file\n+c\n");
  expect(file?.hunks[0]?.lines).toEqual([
    { kind: "context", text: "", isBare: false },
    { kind: "remove", text: "b", isBare: true },
    { kind: "add", text: "c", isBare: false },
  ]);
});

describe("what is refused", () => {
  test.each([
    ["", /has no file/],
    ["nothing of a patch", /has no file/],
    ["*** Begin Patch\n*** Update File: x\n", /line 1 of the patch: is not a unified diff/],
    [`@@ -1 +1 @@\n-a\n+b\n`, /line 1 of the patch: a hunk without a file/],
    ["--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n", /x: hunk 1 \(line 3 of the patch\): its header counts 3 old and 3 new lines, and it has 2 and 2/],
    ["--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n a\n-b\n+c\n", /its header counts 1 old and 1 new lines, and it has 2 and 2/],
    ["--- a/x\n+++ b/x\n@@ nonsense @@\n a\n", /hunk 1 of x begins with/],
    ["--- a/x\n+++ b/x\n", /x has no hunks/],
    ["--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", /neither was nor will be/],
    ["diff --git a/x b/x\nBinary files a/x and b/x differ\n", /binary/],
    ["diff --git a/x b/y\ncopy from x\ncopy to y\n", /copy/],
    ["diff --git a/x b/x\nnew file mode 120000\n", /mode 120000/],
  ])("%j", (patch, message) => {
    expect(() => parseUnifiedDiff(patch)).toThrow(message);
  });

  test("more files than a patch may have", () => {
    const one = (index: number) => `--- a/${index}\n+++ b/${index}\n${HUNK}`;
    expect(() => parseUnifiedDiff(Array.from({ length: 257 }, (_, index) => one(index)).join(""))).toThrow("257 files, more than 256");
  });
});
