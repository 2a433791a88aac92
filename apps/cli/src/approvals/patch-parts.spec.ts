import { describe, expect, it } from "vitest";
import { patchParts } from "./patch-parts.ts";

const PATCH = `--- a/a.ts
+++ b/a.ts
@@ -1,2 +1,3 @@
 one
+two
 three
@@ -9,2 +10,1 @@
 nine
-ten
--- a/b.ts
+++ b/b.ts
@@ -1,1 +1,1 @@
-x
+y
`;

describe("the parts of a patch", () => {
  it("are its hunks, and all of them together are the patch", () => {
    const { parts, join } = patchParts({ patch: PATCH }) as NonNullable<ReturnType<typeof patchParts>>;
    expect(parts.map(({ path }) => path)).toEqual(["a.ts", "a.ts", "b.ts"]);
    expect(parts[1]?.diff).toBe("@@ -9,2 +9,1 @@\n nine\n-ten\n");
    expect(JSON.parse(join(parts.map(({ text }) => text)) ?? "")).toEqual({ patch: PATCH });
  });

  it("can be left out and edited, with the numbers that follow", () => {
    const { parts, join } = patchParts({ patch: PATCH }) as NonNullable<ReturnType<typeof patchParts>>;
    const edited = parts[2]?.text.replace("+y", "+y\n+z");
    const { patch } = JSON.parse(join([undefined, parts[1]?.text, edited]) ?? "") as { patch: string };
    expect(patch).toBe("--- a/a.ts\n+++ b/a.ts\n@@ -9,2 +9,1 @@\n nine\n-ten\n--- a/b.ts\n+++ b/b.ts\n@@ -1,1 +1,2 @@\n-x\n+y\n+z\n");
    expect(join([undefined, undefined, undefined])).toBeUndefined();
  });

  it("are the edits where the call searches and replaces", () => {
    const edits = [
      { path: "a", search: "x\n", replace: "y\nz\n", all: true },
      { path: "b", search: "1", replace: "2" },
    ];
    const { parts, join } = patchParts({ edits: edits as never }) as NonNullable<ReturnType<typeof patchParts>>;
    expect(parts[0]?.diff).toBe("-x\n+y\n+z\n");
    expect(JSON.parse(join([undefined, "3"]) ?? "")).toEqual({ edits: [{ path: "b", search: "1", replace: "3" }] });
    expect(JSON.parse(join(["q", undefined]) ?? "")).toEqual({ edits: [{ path: "a", search: "x\n", replace: "q", all: true }] });
  });

  it("are none where nobody can tell them apart", () => {
    for (const args of [{}, { patch: 1 }, { edits: [] }, { edits: [{ path: "a" }] }, { patch: "" }]) expect(patchParts(args as never)).toBeUndefined();
  });
});
