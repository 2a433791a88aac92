import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Tree } from "../testing/tree.ts";
import { RepositoryIndexer } from "./repository-indexer.ts";

const FILES = {
  ".gitignore": "dist/\n",
  "src/store.ts": "export class EventStore {\n  appendEvent(x: Event) {}\n}\n",
  "src/main.ts": 'import { EventStore } from "./store.ts";\nexport function startServer() { return new EventStore().appendEvent(1); }\n',
  "src/other.ts": 'import { EventStore } from "./store.ts";\nexport const lonely = new EventStore();\n',
  "tools/run.py": "def run_tool(name):\n    pass\n",
  "dist/out.js": "function ignored() {}\n",
  "README.md": "# readme",
};

function mapOf(indexer: RepositoryIndexer, message = "", budgetTokens = 1_000): string {
  return indexer.map({ message, paths: [], budgetTokens }).text;
}

/** A data directory, and indexers on it: how a process finds what another one left. */
function open(tree: Tree, data: Tree): RepositoryIndexer {
  return new RepositoryIndexer({ root: tree.path, dataDirectory: data.path });
}

/** Long ago, so that no stat is as young as the file system's clock tick. */
function age(tree: Tree): void {
  const past = new Date(Date.now() - 3_600_000);
  for (const name of readdirSync(tree.path, { recursive: true, encoding: "utf8" })) utimesSync(tree.at(name), past, past);
}

function indexFiles(data: Tree): string[] {
  return readdirSync(data.path, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".bin"))
    .map((name) => join(data.path, name));
}

it("finds what is defined in files that are not ignored, and ranks what others name first", async () => {
  using tree = new Tree(FILES);
  using data = new Tree();
  const indexer = open(tree, data);
  expect(await indexer.update()).toMatchObject({ state: "ready", files: 6, sources: 4, parsed: 4, notes: [] });
  const text = mapOf(indexer);
  expect(text.split("\n").slice(0, 3)).toEqual(["src/store.ts:", "  1 export class EventStore", "    2 appendEvent(x: Event) {}"]);
  expect(text).toContain("tools/run.py:\n  1 def run_tool(name):");
  expect(text).not.toContain("ignored");
});

it("keeps within its budget, and puts the files and names of a message first", async () => {
  using tree = new Tree({
    ...FILES,
    ...Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`many/f${n}.ts`, `export function numberedFunction${n}() { return new EventStore(); }\n`])),
  });
  using data = new Tree();
  const indexer = open(tree, data);
  await indexer.update();
  for (const budgetTokens of [0, 5, 50, 500]) {
    const map = indexer.map({ message: "", paths: [], budgetTokens });
    expect(Buffer.byteLength(map.text)).toBeLessThanOrEqual(3 * budgetTokens);
    expect(map.definitions + map.leftOut).toBe(205);
  }
  expect(mapOf(indexer, "why is many/f77.ts slow?", 60)).toMatch(/^many\/f77\.ts:\n {2}1 export function numberedFunction77/);
  expect(mapOf(indexer, "run.py fails", 60)).toMatch(/^tools\/run\.py:/);
  expect(mapOf(indexer, "where is numberedFunction123?", 60)).toContain("many/f123.ts:");
  expect(mapOf(indexer, "", 60)).not.toContain("many/f123.ts:");
  expect(indexer.map({ message: "", paths: ["many/f5.ts"], budgetTokens: 60 }).text).toMatch(/^many\/f5\.ts:/);
  expect(mapOf(indexer, "x")).toBe(mapOf(indexer, "x"));
});

it("finds what was added, changed, renamed, removed and newly ignored, and parses nothing else", async () => {
  using tree = new Tree(FILES);
  using data = new Tree();
  age(tree);
  const indexer = open(tree, data);
  await indexer.update();
  tree.write({ "src/added.ts": "export function added() {}\n", "src/new/deep.go": "package d\nfunc Deep() {}\n" });
  appendFileSync(tree.at("src/main.ts"), "export function appended() {}\n");
  renameSync(tree.at("src/other.ts"), tree.at("src/renamed.ts"));
  rmSync(tree.at("tools"), { recursive: true });
  expect(await indexer.update()).toMatchObject({ state: "ready", sources: 5 });
  for (const text of [mapOf(indexer), await again(tree, data)]) {
    for (const name of ["src/added.ts:", "Deep", "appended", "src/renamed.ts:"]) expect(text).toContain(name);
    for (const name of ["other.ts", "run.py"]) expect(text).not.toContain(name);
  }
  writeFileSync(tree.at(".gitignore"), "dist/\nsrc/new/\n/src/added.ts\n");
  expect(await indexer.update()).toMatchObject({ sources: 3 });
  expect(mapOf(indexer)).not.toMatch(/added|Deep/);
  tree.write({ ".git/info/exclude": "renamed.ts\n" });
  expect(await indexer.update()).toMatchObject({ sources: 2 });
});

async function again(tree: Tree, data: Tree): Promise<string> {
  const indexer = open(tree, data);
  await indexer.update();
  return mapOf(indexer);
}

it("is read again by the next process without parsing, and is rebuilt where it is damaged, cut, or of another", async () => {
  using tree = new Tree(FILES);
  using data = new Tree();
  age(tree);
  const first = open(tree, data);
  await first.update();
  const expected = mapOf(first);
  const second = open(tree, data);
  const whole = readFileSync(indexFiles(data)[0] as string);
  expect(await second.update()).toMatchObject({ state: "ready", parsed: 4, notes: [] });
  expect(mapOf(second)).toBe(expected);

  for (const name of ["manifest", "symbols"]) {
    for (const damage of [
      (path: string) => truncateSync(path, 100),
      (path: string) => truncateSync(path, 0),
      (path: string) => writeFileSync(path, "nonsense"),
      (path: string) => writeFileSync(path, Buffer.concat([whole.subarray(0, 90), Buffer.from([whole[90] === 1 ? 2 : 1]), whole.subarray(91)])),
    ]) {
      for (const path of indexFiles(data).filter((file) => file.includes(name))) damage(path);
      const indexer = open(tree, data);
      const { state, notes } = await indexer.update();
      expect([state, notes.join()]).toEqual(["ready", expect.stringContaining("damaged")]);
      expect(mapOf(indexer)).toBe(expected);
      expect(await open(tree, data).update()).toMatchObject({ notes: [] });
    }
  }
  for (const path of indexFiles(data).filter((file) => file.includes("symbols"))) rmSync(path);
  expect(await again(tree, data)).toBe(expected);
});

it("goes on where a build was interrupted, and leaves no part of a file", async () => {
  using tree = new Tree(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`d${n % 7}/f${n}.ts`, `export function fn${n}() {}\n`])));
  using data = new Tree();
  let left = 3;
  const stopped = new RepositoryIndexer({
    root: tree.path,
    dataDirectory: data.path,
    onProgress: () => {
      if (--left === 0) throw new Error("stopped");
    },
  });
  await stopped.update().catch((error: unknown) => expect((error as Error).message).toBe("stopped"));
  const indexer = open(tree, data);
  expect(await indexer.update()).toMatchObject({ state: "ready", parsed: 300 });
  expect(mapOf(indexer, "", 100_000)).toContain("fn299");
});

it("lets two write at once", async () => {
  using tree = new Tree(FILES);
  using data = new Tree();
  const [one, other] = [open(tree, data), open(tree, data)];
  await Promise.all([one.update(), other.update()]);
  tree.write({ "src/x.ts": "export function later() {}\n" });
  await Promise.all([one.update(), other.update()]);
  expect(mapOf(one)).toBe(mapOf(other));
  expect(await again(tree, data)).toBe(mapOf(one));
  expect(readdirSync(data.path, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

it("follows no link, reads nothing outside, and nothing that is large, binary or no text", async () => {
  using outside = new Tree({ "out.ts": "export function outsideFunction() {}\n" });
  using tree = new Tree({
    "a.ts": "export function inside() {}\n",
    "big.ts": `export function tooBig() {}\n${"// x\n".repeat(300_000)}`,
    "bin.ts": "export function binary() {}\n\0",
    "latin.ts": Buffer.from("export function latin() {} // \xe4\n", "latin1"),
    "other/.forge-data": "",
    "other/token.ts": "export function token() {}\n",
    ".forge/data/x.ts": "export function ours() {}\n",
    "node_modules/m/i.ts": "export function installed() {}\n",
    ".git/hooks/x.sh": "hook() {\n}\n",
  });
  symlinkSync(outside.path, tree.at("linked"));
  symlinkSync(outside.at("out.ts"), tree.at("linked.ts"));
  symlinkSync(tree.path, tree.at("circle"));
  using data = new Tree();
  const indexer = open(tree, data);
  await indexer.update();
  expect(mapOf(indexer)).toBe("a.ts:\n  1 export function inside() {}\n");
});

it("says that it can't be kept where the disk does not take it, and works on", async () => {
  using tree = new Tree(FILES);
  using data = new Tree();
  const indexer = open(tree, data);
  rmSync(data.path, { recursive: true });
  writeFileSync(data.path, "no directory");
  const { state, notes } = await indexer.update();
  expect([state, notes.join()]).toEqual(["ready", expect.stringContaining("can't be kept")]);
  expect(mapOf(indexer)).toContain("EventStore");
});

it("is written anew where somebody deleted it meanwhile", async () => {
  using tree = new Tree(FILES);
  using data = new Tree();
  const indexer = open(tree, data);
  await indexer.update();
  rmSync(data.path, { recursive: true });
  tree.write({ "src/x.ts": "export function later() {}\n" });
  expect(await indexer.update()).toMatchObject({ notes: [] });
  expect(await again(tree, data)).toBe(mapOf(indexer));
});

it("is private", async () => {
  using tree = new Tree(FILES);
  using data = new Tree();
  chmodSync(data.path, 0o755);
  await open(tree, data).update();
  for (const path of indexFiles(data)) expect(statSync(path).mode & 0o077).toBe(0);
});
