import { existsSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { createGzip, gzipSync } from "node:zlib";
import { ErrorCode } from "@forge/protocol/common";
import { type Header, pack } from "tar-stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { entryPath } from "./entry-path.ts";
import { BUNDLE_LIMITS, type BundleLimits } from "./limits.ts";
import { unpackBundle } from "./unpack-bundle.ts";
import { writeBundle } from "./write-bundle.ts";

let base: string;
let root: string;
beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), "forge-bundle-"));
  root = path.join(base, "target");
});
afterEach(() => rm(base, { recursive: true, force: true }));

type Entry = Partial<Header> & Pick<Header, "name"> & { readonly text?: string };

/** An archive of any entries, as nobody would pack it. */
async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const tar = pack();
  for (const { text = "", ...header } of entries) {
    if (header.type === undefined || header.type === "file") tar.entry(header, text);
    else tar.entry(header);
  }
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const CONFIG: Entry = { name: "runtime.yaml", text: "schema_version: v1\n" };
const packed = async (...entries: Entry[]): Promise<Buffer> => gzipSync(await tarOf([CONFIG, ...entries]));
const unpack = (archive: Buffer, replaces = false) => unpackBundle(Readable.from([archive]), root, { replaces });

/** Nothing was unpacked, and nothing is left beside it. */
async function nothingIsLeft(): Promise<void> {
  expect(await readdir(base)).toEqual([]);
}

describe("unpacking a bundle", () => {
  it("puts every file in its place", async () => {
    const files = [
      { path: "runtime.yaml", content: Buffer.from("a: 1\n"), isExecutable: false },
      { path: "tools/deep/run.sh", content: Buffer.from("#!/bin/sh\n"), isExecutable: true },
    ];
    const { files: unpacked } = await unpack(await writeBundle(files));
    expect(unpacked).toEqual(["runtime.yaml", "tools/deep/run.sh"]);
    expect(await readFile(path.join(root, "runtime.yaml"), "utf8")).toBe("a: 1\n");
    expect((await lstat(path.join(root, "tools/deep/run.sh"))).mode & 0o777).toBe(0o755);
    expect(await readdir(base)).toEqual(["target"]);
  });

  it("takes what others have packed: directories, and paths from the directory itself", async () => {
    const { files } = await unpack(await packed({ name: "./workflows/", type: "directory" }, { name: "./workflows/a.yaml", text: "x" }));
    expect(files).toEqual(["runtime.yaml", "workflows/a.yaml"]);
  });

  it.each<[string, Entry[]]>([
    ["a link", [{ name: "workflows/a.yaml", type: "symlink", linkname: "/etc/passwd" }]],
    ["a hard link", [{ name: "workflows/a.yaml", type: "link", linkname: "runtime.yaml" }]],
    ["a device", [{ name: "tools/null", type: "character-device", devmajor: 1, devminor: 3 }]],
    ["a pipe", [{ name: "tools/pipe", type: "fifo" }]],
    ["a way out", [{ name: "../evil.txt", text: "x" }]],
    ["a way out from inside", [{ name: "workflows/../../evil.txt", text: "x" }]],
    ["a way around", [{ name: "workflows/../agents/a.yaml", text: "x" }]],
    ["an absolute path", [{ name: "/tmp/evil.txt", text: "x" }]],
    ["a drive", [{ name: "C:/evil.txt", text: "x" }]],
    ["a backslash", [{ name: "..\\evil.txt", text: "x" }]],
    ["control characters", [{ name: "tools/a\u001B[2J", text: "x" }]],
    ["a file twice", [{ name: "runtime.yaml", text: "other" }]],
    ["a file twice on a system that takes case for nothing", [{ name: "Runtime.yaml", text: "other" }]],
    [
      "a file that is a directory too",
      [
        { name: "tools", text: "x" },
        { name: "tools/a", text: "y" },
      ],
    ],
    [
      "a directory that is a file too",
      [
        { name: "tools/a", text: "y" },
        { name: "tools", text: "x" },
      ],
    ],
    ["a name of a device", [{ name: "tools/nul.txt", text: "x" }]],
    ["a path of many parts", [{ name: `${"a/".repeat(40)}b`, text: "x" }]],
  ])("refuses %s, and leaves nothing", async (_, entries) => {
    await expect(unpack(await packed(...entries))).rejects.toMatchObject({ reason: "BUNDLE_INVALID" });
    await nothingIsLeft();
    expect(existsSync("/tmp/evil.txt")).toBe(false);
  });

  it.each([
    ["..", "leads out"],
    ["a/../b", "leads out"],
    ["/a", "is absolute"],
    ["a//b", "not written plainly"],
    ["a/./b", "not written plainly"],
    ["a".repeat(256), "too long a name"],
  ])("says of %s that it %s", (name, why) => {
    expect(() => entryPath(name)).toThrow(why);
  });

  it("refuses what follows a link, whatever it is called", async () => {
    await expect(unpack(await packed({ name: "tools", type: "symlink", linkname: "/tmp" }, { name: "tools/evil.txt", text: "x" }))).rejects.toMatchObject({
      reason: "BUNDLE_INVALID",
    });
    await nothingIsLeft();
  });

  it("stops at ten gigabytes of zeros after a part of them", async () => {
    const tar = pack();
    const entry = tar.entry({ name: "tools/zeros", size: 10 * 1024 ** 3 });
    entry.on("error", () => undefined);
    const zeros = Readable.from(
      (function* () {
        for (let piece = 0; piece < 10 * 1024; piece++) yield Buffer.alloc(1024 * 1024);
      })(),
    );
    zeros.pipe(entry);
    zeros.on("error", () => undefined);
    const gzip = createGzip({ level: 1 });
    tar.on("error", () => undefined);
    gzip.on("error", () => undefined);
    tar.pipe(gzip);
    await expect(unpackBundle(gzip, root, { replaces: false })).rejects.toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED, reason: "BUNDLE_TOO_LARGE" });
    for (const stream of [zeros, entry, tar, gzip]) stream.destroy();
    await nothingIsLeft();
  });

  it.each<[string, Partial<BundleLimits>, Entry[]]>([
    ["entries", { entriesMax: 3 }, [{ name: "tools/a" }, { name: "tools/b" }, { name: "tools/c" }]],
    ["bytes", { bytesMax: 4_096 }, [{ name: "tools/a", text: "x".repeat(8_192) }]],
    ["packed bytes", { archiveBytesMax: 50 }, []],
    ["bytes of a file", { fileBytesMax: 100 }, [{ name: "tools/a", text: "x".repeat(101) }]],
    ["blanks for its size", { ratioFreeBytes: 100, ratioMax: 20 }, [{ name: "tools/a", text: "x".repeat(65_536) }]],
  ])("refuses more %s than it takes", async (_, limits, entries) => {
    const archive = Readable.from([await packed(...entries)]);
    await expect(unpackBundle(archive, root, { replaces: false, limits: { ...BUNDLE_LIMITS, ...limits } })).rejects.toMatchObject({
      reason: "BUNDLE_TOO_LARGE",
    });
    await nothingIsLeft();
  });

  it("refuses what is no archive, and one that is cut off anywhere", async () => {
    for (const archive of [Buffer.from(""), Buffer.from("no archive at all"), gzipSync("no tar at all".repeat(100)), await tarOf([CONFIG])]) {
      await expect(unpack(archive)).rejects.toMatchObject({ code: ErrorCode.VALIDATION, reason: "BUNDLE_INVALID" });
    }
    const whole = await packed({ name: "tools/a", text: "abc".repeat(1_000) });
    for (const length of [1, 9, 20, whole.length >> 1, whole.length - 9, whole.length - 1])
      await expect(unpack(whole.subarray(0, length)), `${length} of ${whole.length}`).rejects.toMatchObject({ reason: "BUNDLE_INVALID" });
    await nothingIsLeft();
  });

  it("refuses a tar that ends inside of a file", async () => {
    const tar = await tarOf([CONFIG, { name: "tools/a", text: "x".repeat(5_000) }]);
    await expect(unpack(gzipSync(tar.subarray(0, 3_000)))).rejects.toMatchObject({ reason: "BUNDLE_INVALID" });
    await nothingIsLeft();
  });

  it("refuses an archive of something else", async () => {
    await expect(unpack(gzipSync(await tarOf([{ name: "readme.md", text: "x" }])))).rejects.toMatchObject({ reason: "BUNDLE_INVALID" });
  });
});

describe("unpacking into a directory that is there", () => {
  beforeEach(async () => {
    await mkdir(path.join(root, "workflows"), { recursive: true });
    await writeFile(path.join(root, "runtime.yaml"), "mine");
    await writeFile(path.join(root, "workflows/own.yaml"), "mine");
  });

  const archive = () => packed({ name: "workflows/a.yaml", text: "new" });

  it("touches nothing where a file is there", async () => {
    await expect(unpack(await archive())).rejects.toMatchObject({ code: ErrorCode.CONFLICT, reason: "FILE_EXISTS" });
    expect(await readFile(path.join(root, "runtime.yaml"), "utf8")).toBe("mine");
    expect(await readdir(path.join(root, "workflows"))).toEqual(["own.yaml"]);
  });

  it("replaces what it has and keeps the rest where it is told to", async () => {
    await unpack(await archive(), true);
    expect(await readFile(path.join(root, "runtime.yaml"), "utf8")).toBe("schema_version: v1\n");
    expect((await readdir(path.join(root, "workflows"))).toSorted()).toEqual(["a.yaml", "own.yaml"]);
    expect(await readdir(base)).toEqual(["target"]);
  });

  it("follows no link that is there, even where it may replace files", async () => {
    await mkdir(path.join(base, "elsewhere"));
    await symlink(path.join(base, "elsewhere"), path.join(root, "tools"));
    await symlink(path.join(base, "elsewhere/file"), path.join(root, "agents"));
    for (const name of ["tools/a", "agents"]) {
      await expect(unpack(await packed({ name, text: "x" }), true)).rejects.toMatchObject({ code: ErrorCode.CONFLICT });
    }
    expect(await readdir(path.join(base, "elsewhere"))).toEqual([]);
    expect(await readFile(path.join(root, "runtime.yaml"), "utf8")).toBe("mine");
  });
});
