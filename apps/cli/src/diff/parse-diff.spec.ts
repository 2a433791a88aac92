import { describe, expect, it } from "vitest";
import { countLines, formatDiff, parseDiff, pathOf } from "./parse-diff.ts";

const DIFF = `--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,4 @@
 one
+one and a half
 two
 three
@@ -10,2 +11,2 @@ function f() {
-ten
+TEN
 eleven
--- a/notes.md
+++ b/notes.md
@@ -1,2 +1,1 @@
--- a list
 end
`;

describe("a unified diff", () => {
  it("is read and written again as it was", () => {
    const files = parseDiff(DIFF);
    expect(files.map(pathOf)).toEqual(["src/a.ts", "notes.md"]);
    expect(files.map(({ hunks }) => hunks.length)).toEqual([2, 1]);
    expect(countLines(files)).toEqual({ added: 2, removed: 2 });
    expect(formatDiff(files)).toBe(DIFF);
  });

  it("has the right numbers where hunks are left out or counts were wrong", () => {
    const [file] = parseDiff(DIFF.replace("-1,3 +1,4", "-1,9 +1,9"));
    const second = file?.hunks[1];
    if (file === undefined || second === undefined) throw new Error("no second hunk");
    expect(formatDiff([{ ...file, hunks: [second] }])).toContain("@@ -10,2 +10,2 @@ function f() {\n");
    expect(formatDiff([file])).toContain("@@ -1,3 +1,4 @@\n");
  });

  it("takes a removed line that looks like a header for what it is, and new and deleted files", () => {
    const created = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n";
    expect(pathOf(parseDiff(created)[0] as never)).toBe("new.txt");
    expect(formatDiff(parseDiff(created))).toBe(created);
    const deleted = "diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n";
    expect(parseDiff(deleted)).toHaveLength(1);
    expect(pathOf(parseDiff(deleted)[0] as never)).toBe("old");
    expect(formatDiff(parseDiff(deleted))).toBe(deleted);
  });
});
