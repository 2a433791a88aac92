import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Tree } from "../testing/tree.ts";
import { compacted, IndexStore } from "./index-store.ts";
import { SymbolStore } from "./symbol-store.ts";
import { type FileSymbols, hashName } from "./symbols.ts";
import type { TreeState } from "./tree-state.ts";

function symbolsOf(...names: string[]): FileSymbols {
  return {
    definitions: names.map((name, index) => ({ name, line: index + 1, signature: `function ${name}()`, isNested: false })),
    names: names.map((name) => hashName("js", name)),
    references: [1, 2, 3],
    isGenerated: false,
  };
}

function treeOf(...hashes: string[]): TreeState {
  const stamp = { size: 1, mtimeMs: 2, ctimeMs: 3, ino: 4 };
  return new Map([
    [
      "",
      { path: "", stamp, ignoreStamps: {}, directories: [], fileCount: hashes.length, sources: hashes.map((hash) => ({ name: `${hash}.ts`, stamp, hash })) },
    ],
  ]);
}

function filesOf(data: Tree): string[] {
  return readdirSync(data.path, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".bin") || name.endsWith(".tmp"));
}

it("gives another process what was written, and nothing of another workspace's", () => {
  using data = new Tree();
  const symbols = new SymbolStore();
  symbols.add("a", symbolsOf("one", "two"));
  new IndexStore(data.path, "/w").write(treeOf("a"), symbols);
  const store = new IndexStore(data.path, "/w");
  const { tree, segments, isDamaged } = store.readTree();
  expect([tree, isDamaged]).toEqual([treeOf("a"), false]);
  const read = new SymbolStore();
  expect(store.readSegments(segments, read)).toEqual({ isDamaged: false });
  expect(read.has("a")).toBe(true);
  expect(new IndexStore(data.path, "/other").readTree().tree.size).toBe(0);
});

it("names no segment that is not one of its own", () => {
  using data = new Tree({ "x.bin": "x" });
  expect(new IndexStore(data.path, "/w").readSegments(["../../x.bin"], new SymbolStore())).toEqual({ isDamaged: true });
});

it("writes a segment again that another process cleared away", () => {
  using data = new Tree();
  const [mine, others] = [new SymbolStore(), new SymbolStore()];
  mine.add("a", symbolsOf("one"));
  const store = new IndexStore(data.path, "/w");
  store.write(treeOf("a"), mine);
  const [segment = ""] = filesOf(data).filter((name) => name.includes("symbols-"));
  const past = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(join(data.path, segment), past, past);
  others.add("a", symbolsOf("one"));
  new IndexStore(data.path, "/w").write(treeOf("a"), others);
  expect(filesOf(data)).not.toContain(segment);
  store.write(treeOf("a"), mine);
  const again = new SymbolStore();
  expect(store.readSegments(store.readTree().segments, again)).toEqual({ isDamaged: false });
  expect(again.has("a")).toBe(true);
});

it("keeps for an hour what no manifest names", () => {
  using data = new Tree();
  const store = new IndexStore(data.path, "/w");
  store.write(treeOf(), new SymbolStore());
  const directory = join(data.path, filesOf(data)[0] as string, "..");
  const unnamed = (name: string): string => `symbols-${name.repeat(36)}.bin`;
  const age = (name: string, ms: number): void => utimesSync(join(directory, name), new Date(Date.now() - ms), new Date(Date.now() - ms));
  data.write(Object.fromEntries([unnamed("a"), unnamed("b"), "manifest.bin.x.tmp"].map((name) => [`${directory.slice(data.path.length + 1)}/${name}`, "x"])));
  age(unnamed("a"), 10 * 60_000);
  age(unnamed("b"), 61 * 60_000);
  age("manifest.bin.x.tmp", 61 * 60_000);
  store.write(treeOf(), new SymbolStore());
  expect(readdirSync(directory).toSorted()).toEqual(["manifest.bin", unnamed("a")]);
});

it("drops the symbols of contents that are gone once they are most, and changes none of the others", () => {
  const symbols = new SymbolStore();
  for (let n = 0; n < 3_000; n++) symbols.add(`h${n}`, symbolsOf(`fn${n}`));
  expect(compacted(treeOf(...Array.from({ length: 1_500 }, (_, n) => `h${n}`)), symbols)).toBe(symbols);
  const fresh = compacted(treeOf("h7", "h2999"), symbols);
  expect(fresh.segments.flatMap(({ segment }) => segment.hashes)).toEqual(["h7", "h2999"]);
  for (const hash of ["h7", "h2999"]) {
    const [before, after] = [symbols.placeOf(hash), fresh.placeOf(hash)];
    expect(after?.segment.definitions[after.index]).toBe(before?.segment.definitions[before.index]);
  }
  expect(fresh.segments[0]?.segment.names).toEqual(Uint32Array.of(hashName("js", "fn7"), hashName("js", "fn2999")));
  expect(fresh.segments[0]?.segment.references).toEqual(Uint32Array.of(1, 2, 3, 1, 2, 3));
});
