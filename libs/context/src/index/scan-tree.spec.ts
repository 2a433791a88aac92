import { statSync, utimesSync, writeFileSync } from "node:fs";
import { afterEach, expect, it, vi } from "vitest";
import { ContainedFiles } from "../files/contained-files.ts";
import { Tree } from "../testing/tree.ts";
import { scanTree } from "./scan-tree.ts";
import type { TreeState } from "./tree-state.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Scans as if it were so long after a file's last change, and takes what changed for read. */
async function scan(tree: Tree, known: TreeState, laterMs: number) {
  vi.spyOn(Date, "now").mockReturnValue(statSync(tree.at("a.ts")).ctimeMs + laterMs);
  const scanned = await scanTree(new ContainedFiles(tree.path), known, async () => {});
  for (const { source } of scanned.changed) source.hash = "read";
  return { tree: scanned.tree, changed: scanned.changed.map(({ path }) => path), isChanged: scanned.isChanged };
}

it("takes a file for changed again where its last change was too short ago to tell from the next one", async () => {
  using tree = new Tree({ "a.ts": "x" });
  const first = await scan(tree, new Map(), 10);
  expect(first.changed).toEqual(["a.ts"]);
  const second = await scan(tree, first.tree, 60_000);
  expect(second.changed).toEqual(["a.ts"]);
  const third = await scan(tree, second.tree, 60_000);
  expect([third.changed, third.isChanged]).toEqual([[], false]);
});

it("notices a change that keeps a file's size and its time", async () => {
  using tree = new Tree({ "a.ts": "one" });
  const past = new Date("2020-01-01T00:00:00.123Z");
  utimesSync(tree.at("a.ts"), past, past);
  const first = await scan(tree, new Map(), 60_000);
  writeFileSync(tree.at("a.ts"), "two");
  utimesSync(tree.at("a.ts"), past, past);
  expect((await scan(tree, first.tree, 60_000)).changed).toEqual(["a.ts"]);
});

it("waits longer for the clock of a file system that counts in seconds", async () => {
  using tree = new Tree({ "a.ts": "x" });
  const { ctimeMs } = statSync(tree.at("a.ts"));
  const later = new Date(Math.ceil(ctimeMs / 1_000) * 1_000 + 10_000);
  utimesSync(tree.at("a.ts"), later, later);
  const afterMtime = later.getTime() - statSync(tree.at("a.ts")).ctimeMs + 1_500;
  const first = await scan(tree, new Map(), afterMtime);
  expect((await scan(tree, first.tree, 60_000)).changed).toEqual(["a.ts"]);
});

it("gives way while it works, and stops where it is told to", async () => {
  using tree = new Tree({ "a.ts": "x", "d/a.ts": "x", "e/a.ts": "x" });
  let [turns, clock] = [0, 0];
  vi.spyOn(performance, "now").mockImplementation(() => (clock += 15));
  await scanTree(new ContainedFiles(tree.path), new Map(), async () => {
    turns++;
  });
  expect(turns).toBeGreaterThan(0);
  const stopped = scanTree(new ContainedFiles(tree.path), new Map(), () => Promise.reject(new Error("stopped")));
  await expect(stopped).rejects.toThrow("stopped");
});

it("looks again at what is ignored where an ignore file changed in place, at any level", async () => {
  using tree = new Tree({ "a.ts": "x", ".gitignore": "one/\n", "one/b.ts": "x", "two/c.ts": "x", "two/.gitignore": "#x\n", ".git/info/exclude": "#\n" });
  const names = (known: TreeState): string[] => [...known.values()].flatMap(({ path, sources }) => sources.map(({ name }) => `${path}/${name}`)).toSorted();
  const first = await scan(tree, new Map(), 60_000);
  expect(names(first.tree)).toEqual(["/a.ts", "two/c.ts"]);
  tree.write({ ".gitignore": "three/\n" });
  const second = await scan(tree, first.tree, 60_000);
  expect(names(second.tree)).toEqual(["/a.ts", "one/b.ts", "two/c.ts"]);
  tree.write({ "two/.gitignore": "c*\n" });
  const third = await scan(tree, second.tree, 60_000);
  expect(names(third.tree)).toEqual(["/a.ts", "one/b.ts"]);
  tree.write({ ".git/info/exclude": "b.ts\n" });
  expect(names((await scan(tree, third.tree, 60_000)).tree)).toEqual(["/a.ts"]);
});

it("heeds what is ignored above the workspace, also when that changes", async () => {
  using repository = new Tree({
    ".git/info/exclude": "excluded.ts\n",
    ".gitignore": "dist/\n/w/here.ts\n",
    "w/in/a.ts": "x",
    "w/in/dist/b.ts": "x",
    "w/in/excluded.ts": "x",
    "w/in/c.ts": "x",
  });
  const tree = { at: (path: string) => repository.at(`w/in/${path}`), path: repository.at("w/in") } as Tree;
  const names = (known: TreeState): string[] => [...known.values()].flatMap(({ sources }) => sources.map(({ name }) => name)).toSorted();
  const first = await scan(tree, new Map(), 60_000);
  expect(names(first.tree)).toEqual(["a.ts", "c.ts"]);
  repository.write({ "w/.gitignore": "/in/c.ts\n" });
  const second = await scan(tree, first.tree, 60_000);
  expect(names(second.tree)).toEqual(["a.ts"]);
  repository.write({ ".gitignore": "w/\n" });
  expect(names((await scan(tree, second.tree, 60_000)).tree)).toEqual(["a.ts", "b.ts", "c.ts", "excluded.ts"]);
});
