import { describe, expect, it } from "vitest";
import { formatBytes } from "../output/format-bytes.ts";
import { progressText } from "./long-work.ts";
import { showPath } from "./show-path.ts";

describe("a size", () => {
  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [1_023, "1023 bytes"],
    [1_024, "1.0 KiB"],
    [1_048_524, "1023.9 KiB"],
    [1_048_575, "1.0 MiB"],
    [2_621_440, "2.5 MiB"],
    [5 * 2 ** 50, "5120.0 TiB"],
  ])("of %i is %s", (bytes, shown) => {
    expect(formatBytes(bytes)).toBe(shown);
  });
});

describe("a path", () => {
  it.each([
    ["src/a b.txt", "src/a b.txt"],
    ["漢字/\u{1F600}-x", "漢字/\u{1F600}-x"],
    [" a", '" a"'],
    ["a\nb", '"a\\nb"'],
    ['a"b', '"a\\"b"'],
    ["a\u001B[31mb", '"a\\u001b[31mb"'],
    ["a\u202Eb", '"a\\u202eb"'],
    ["a\u00A0b", '"a\\u00a0b"'],
  ])("%j is shown as %s", (path, shown) => {
    expect(showPath(path)).toBe(shown);
  });
});

it("says how far long work is", () => {
  expect(progressText({ phase: "reading", files: 1, bytes: 12 })).toBe("Reading 1 file, 12 bytes");
  expect(progressText({ phase: "putting", files: 1, filesTotal: 10, bytes: 2_048 })).toBe("Storing 1 of 10 files, 2.0 KiB");
  expect(progressText({ phase: "getting", files: 3, filesTotal: 10, bytes: 1, bytesTotal: 2_621_440 })).toBe("Getting 3 of 10 files, 1 byte of 2.5 MiB");
});
