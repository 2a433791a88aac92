import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { captureRevision } from "./capture-revision.ts";
import { driftReport } from "./drift-report.ts";
import { restoreRevision } from "./restore-revision.ts";
import { MemoryServer } from "./testing/memory-server.ts";
import { makeTree, readTree, type Tree, temporaryDirectory, text } from "./testing/tree.ts";

type Node = Exclude<Tree[string], "directory"> | readonly (readonly [name: string, node: Node])[];

/** Any name that a file may have here, and that no other system takes for a path. */
const name = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
    fc.constantFrom(
      "-rf",
      "--",
      " ",
      "\n",
      "a\nb",
      "\u{1F600}",
      "e\u0301",
      "\u00E9",
      "\uFFFD",
      "..x",
      "a\\b",
      "CON",
      "x".repeat(255),
      "é".repeat(127),
      ".git",
      "\u202Ea",
    ),
  )
  .filter(
    (each) => !/[/\0]/.test(each) && Buffer.byteLength(each) <= 255 && each !== ".forge" && each.split("\\").every((part) => !["", ".", ".."].includes(part)),
  );

const { node } = fc.letrec<{ node: Node; directory: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.record({ file: fc.uint8Array({ maxLength: 60 }), executable: fc.boolean() }),
    fc.record({
      link: fc.oneof(
        name,
        fc.tuple(name, name).map((parts) => parts.join("/./")),
      ),
    }),
    tie("directory"),
  ),
  directory: fc.uniqueArray(fc.tuple(name, tie("node")), { maxLength: 6, selector: ([each]) => each }),
}));

function flatten(entries: Extract<Node, readonly unknown[]>, prefix = ""): Tree {
  const tree: Record<string, Tree[string]> = {};
  for (const [each, what] of entries) {
    const path = prefix + each;
    if ("file" in what || "link" in what) tree[path] = what;
    else Object.assign(tree, { [path]: "directory" }, flatten(what, `${path}/`));
  }
  return tree;
}

describe("a directory that is captured and restored", () => {
  it("is the same again, whatever it holds", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.tuple(name, node), { maxLength: 6, selector: ([each]) => each }), async (root) => {
        await using directory = await temporaryDirectory();
        const [from, to] = [join(directory.path, "from"), join(directory.path, "to")];
        await makeTree(from, { ".": "directory", ...flatten(root) });
        const { client } = new MemoryServer();
        const { revisionId } = await captureRevision(client, from);
        await restoreRevision(client, revisionId, to);
        expect(await readTree(to)).toEqual(await readTree(from));
        expect((await driftReport(client, revisionId, to)).entries).toEqual([]);
        expect((await captureRevision(client, to)).revisionId).toBe(revisionId);
      }),
      { numRuns: 40, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
    );
  });

  it("keeps deep paths, which no single path of the system could name", async () => {
    await using directory = await temporaryDirectory();
    const deep = Array.from({ length: 15 }, (_, index) => `${index}`.padEnd(250, "d")).join("/");
    await makeTree(join(directory.path, "from"), { [`${deep.slice(0, 3_700)}/x`]: text("deep") });
    const { client } = new MemoryServer();
    const { revisionId } = await captureRevision(client, join(directory.path, "from"));
    await restoreRevision(client, revisionId, join(directory.path, "a".repeat(200)));
    expect((await driftReport(client, revisionId, join(directory.path, "a".repeat(200)))).entries).toEqual([]);
  });
});
