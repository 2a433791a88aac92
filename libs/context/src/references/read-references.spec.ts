import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { expect, it } from "vitest";
import { Tree } from "../testing/tree.ts";
import { readReferences } from "./read-references.ts";

const LINES = Array.from({ length: 100 }, (_, n) => `line ${n + 1}\n`).join("");
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

function texts(tree: Tree, message: string): [string, string | undefined, string][] {
  return readReferences(tree.path, message).texts.map(({ source, lines, text }) => [source, lines, text]);
}

function problems(tree: Tree, message: string): string[] {
  return readReferences(tree.path, message).problems.map((problem) => `${problem.source}: ${problem.message}`);
}

it("reads files, ranges of lines, and names with spaces, each once", () => {
  using tree = new Tree({ "src/a.ts": LINES, "name with space.txt": "spaced", Makefile: "all:", "a.b.": "dot" });
  expect(texts(tree, 'see @src/a.ts:10-11, @"name with space.txt"; @Makefile and @Makefile. Also @a.b..')).toEqual([
    ["src/a.ts", "10-11 of 100", "line 10\nline 11"],
    ["name with space.txt", undefined, "spaced"],
    ["Makefile", undefined, "all:"],
    ["a.b.", undefined, "dot"],
  ]);
  expect(texts(tree, "@src/a.ts:1-2 @./src/a.ts:1-2 @src/../src/a.ts#L1-L2 @src/a.ts:1")).toHaveLength(2);
  expect(texts(tree, "@src/a.ts:99-500")).toEqual([["src/a.ts", "99-100 of 100", "line 99\nline 100"]]);
  expect(texts(tree, `@${tree.path}/Makefile @./Makefile @./Makefile:1`)).toHaveLength(2);
  expect(problems(tree, "@src/a.ts:101-102 @src/a.ts:5-4")).toEqual(["src/a.ts: has no line 101", "src/a.ts: has no line 5"]);
});

it("tells addresses, decorators, packages and handles from files that are missing", () => {
  using tree = new Tree({ "src/a.ts": "", "test/a.ts": "", "app/x": "" });
  const text = "@Injectable() @property, @app.route('/') @pytest.fixture me@src/a.ts @types/node @forge/context @someone the @test annotation";
  expect(readReferences(tree.path, text)).toMatchObject({ texts: [], media: [], problems: [] });
  expect(problems(tree, '@src/b.ts @gone.md @other/c.py @src/new @"gone too" @./x')).toEqual([
    "@src/b.ts: does not exist in the workspace",
    "@gone.md: does not exist in the workspace",
    "@other/c.py: does not exist in the workspace",
    "@src/new: does not exist in the workspace",
    '@"gone too": does not exist in the workspace',
    "@./x: does not exist in the workspace",
  ]);
});

it("refuses what is outside, protected, a device, or no text", () => {
  using outside = new Tree({ "secret.txt": "secret" });
  using tree = new Tree({
    ".git/config": "[core]",
    "latin.txt": Buffer.from([0xe4, 0x20]),
    "bin.dat": "a\0b",
    ".forge/data/token": "t",
    "other-data/.forge-data": "",
    "other-data/token": "t",
  });
  symlinkSync(outside.at("secret.txt"), tree.at("link.txt"));
  symlinkSync(outside.path, tree.at("linked"));
  symlinkSync("/dev/zero", tree.at("zero.txt"));
  execFileSync("mkfifo", [tree.at("pipe.txt")]);
  const message = `@link.txt @linked/secret.txt @linked/ @${outside.at("secret.txt")} @../x.md @.git/config @.forge/data/token @other-data/token @zero.txt @pipe.txt @latin.txt @bin.dat`;
  const found = readReferences(tree.path, message);
  expect(found.texts).toEqual([]);
  expect(found.problems.map(({ message: text }) => text.replace(/^"[^"]*" /, ""))).toEqual([
    "goes through a link out of the workspace",
    "goes through a link out of the workspace",
    "goes through a link out of the workspace",
    "is outside of the workspace",
    "does not exist in the workspace",
    "is protected",
    "is protected",
    "is protected",
    "goes through a link out of the workspace",
    "is not a regular file",
    "is not UTF-8 text",
    "is a binary file",
  ]);
});

it("names a directory's files that are not ignored, and reads those that are text, small and no secrets", () => {
  using tree = new Tree({
    ".gitignore": "*.log\n/src/gen/\n!keep.log\n",
    "src/.gitignore": "private.*\n!debug.log\n",
    "src/a.ts": "export const a = 1;",
    "src/keep.log": "kept",
    "src/debug.log": "kept by the nearer file",
    "src/x.log": "ignored",
    "src/private.ts": "ignored",
    "src/gen/b.ts": "ignored",
    "src/deep/c.ts": "deep",
    "src/.env": "KEY=secret",
    "src/big.txt": "x".repeat(20_000),
    "src/node_modules/m/i.js": "ignored",
  });
  const { texts: found, problems: told } = readReferences(tree.path, "what is in @src/?");
  expect(found).toHaveLength(1);
  const [names = "", ...contents] = found[0]?.text.split("\n<file ") ?? [];
  expect(names.split("\n")).toEqual(["src/.env", "src/.gitignore", "src/a.ts", "src/big.txt", "src/debug.log", "src/keep.log", "src/deep/c.ts"]);
  expect(contents.map((content) => /from="([^"]+)"/.exec(content)?.[1])).toEqual([
    "src/.gitignore",
    "src/a.ts",
    "src/debug.log",
    "src/keep.log",
    "src/deep/c.ts",
  ]);
  expect(told.map(({ message }) => message.slice(0, 20))).toEqual(["1 files that usually", "1 files are named an"]);
  expect(texts(tree, "@src/.env")).toEqual([["src/.env", undefined, "KEY=secret"]]);
});

it("lists the workspace itself, and says of a directory with nothing to show that there is nothing", () => {
  using tree = new Tree({ "a.txt": "a", "dist/x.js": "x", ".gitignore": "dist/" });
  expect(texts(tree, "@./")[0]?.[2]).toContain(".gitignore\na.txt\n");
  expect(problems(tree, "@dist/")).toEqual(["dist/: holds no file that is not ignored"]);
});

it("gives images and documents as bytes, told by their contents", () => {
  using tree = new Tree({
    "a.png": PNG,
    "b.dat": PNG,
    "c.pdf": "%PDF-1.7\n\0",
    "fake.png": "text",
    "d.webp": Buffer.from("RIFF\x01\x02\x03\x04WEBPVP8 ", "latin1"),
    "big.gif": Buffer.concat([Buffer.from("GIF89a"), Buffer.alloc(5_300_000)]),
  });
  const { media, texts: found, problems: told } = readReferences(tree.path, "@a.png @b.dat @c.pdf @fake.png @d.webp @big.gif");
  expect(media.map(({ source, mediaType }) => [source, mediaType])).toEqual([
    ["a.png", "image/png"],
    ["b.dat", "image/png"],
    ["c.pdf", "application/pdf"],
    ["d.webp", "image/webp"],
  ]);
  expect(media[0]?.bytes).toEqual(PNG);
  expect(found.map(({ source }) => source)).toEqual(["fake.png"]);
  expect(told.map(({ source }) => source)).toEqual(["big.gif"]);
});

it("is bounded per file, in all, and in number", () => {
  using tree = new Tree({
    ...Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`f${n}.txt`, "x"])),
    "a.txt": LINES.repeat(300),
    "b.txt": LINES.repeat(301),
    "c.txt": LINES.repeat(302),
    "one-line.txt": "x".repeat(300_000),
  });
  const { texts: found, problems: told } = readReferences(tree.path, "@a.txt @b.txt @c.txt");
  expect(found.map(({ source, isCut }) => [source, isCut])).toEqual([
    ["a.txt", true],
    ["b.txt", true],
  ]);
  for (const { text } of found) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(128 * 1024);
  expect(found[0]?.text).toMatch(/\nline \d+$/);
  expect(told.at(-1)?.message).toContain("does not fit");
  expect(texts(tree, "@one-line.txt")[0]?.[2]).toBe("[line 1 alone is longer than 131072 bytes]");
  expect(texts(tree, Array.from({ length: 40 }, (_, n) => `@f${n}.txt`).join(" "))).toHaveLength(32);
});

it("does not hang on ignore patterns that were made to", () => {
  using tree = new Tree({ ".gitignore": `${"*a".repeat(30)}*b\n${"**/a/".repeat(20)}\n`, [`${"a".repeat(200)}.txt`]: "x" });
  const started = performance.now();
  expect(texts(tree, "@./")).toHaveLength(1);
  expect(performance.now() - started).toBeLessThan(2_000);
});
