import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EntrySchema, EntryType, ManifestSchema } from "../gen/forge/workspace/v1/workspace_pb.ts";
import { checkManifest, FILE_BYTES_MAX } from "./check-manifest.ts";
import { compareUtf8 } from "./compare-utf8.ts";

type Init = MessageInitShape<typeof EntrySchema>;

const file = (path: string, more: Init = {}): Init => ({ path, type: EntryType.FILE, mode: 0o644, size: 1n, sha256: "a".repeat(64), ...more });
const directory = (path: string, more: Init = {}): Init => ({ path, type: EntryType.DIRECTORY, ...more });
const link = (path: string, target: string, more: Init = {}): Init => ({ path, type: EntryType.SYMLINK, target, ...more });
const check = (...entries: Init[]) => checkManifest(create(ManifestSchema, { entries }));

function expectTaken(...entries: Init[]): void {
  expect(() => check(...entries)).not.toThrow();
}

/** What is refused, by the field that the error names. */
function expectRefused(entries: Init[], field: string): void {
  expect(() => check(...entries)).toThrow(expect.objectContaining({ detail: expect.objectContaining({ metadata: { field } }) }));
}

describe("a manifest", () => {
  it("is taken with directories, files, links, odd names, and names that differ in case only", () => {
    expectTaken();
    expectTaken(
      directory("A"),
      file("A/-x"),
      directory("a"),
      directory("a b"),
      link("a b/l", "../A/-x"),
      file("a/\n\u{1F600}"),
      file("a/e\u0301", { mode: 0o755 }),
    );
    expectTaken(file("..name"), file("a\\b"), file("x".repeat(255)), file("\u{FFFD}"), file("\u{1F600}"));
  });

  it.each(["", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "..\\a", "a\\..\\b", "\\a", "a\0b", "\uD800", "é".repeat(2_049)])(
    "is refused with the path %j",
    (path) => {
      expectRefused([directory("a"), file(path)], "manifest.entries[1].path");
    },
  );

  it("is refused out of order, with a path twice, without a parent, and below what is no directory", () => {
    expectRefused([file("b"), file("a")], "manifest.entries[1].path");
    expectRefused([file("\u{1F600}"), file("\u{FFFD}")], "manifest.entries[1].path");
    expectRefused([file("a"), file("a")], "manifest.entries[1].path");
    expectRefused([file("a/b")], "manifest.entries[0].path");
    expectRefused([file("a"), file("a/b")], "manifest.entries[1].path");
    expectRefused([link("a", "b"), file("a/b"), directory("b")], "manifest.entries[1].path");
  });

  it("is refused with fields that its type does not have, or has otherwise", () => {
    expectRefused([file("a", { type: EntryType.UNSPECIFIED })], "manifest.entries[0].type");
    expectRefused([file("a", { type: 9 as EntryType })], "manifest.entries[0].type");
    expectRefused([file("a", { mode: 0o600 })], "manifest.entries[0].mode");
    expectRefused([file("a", { size: BigInt(FILE_BYTES_MAX) + 1n })], "manifest.entries[0].size");
    expectRefused([file("a", { sha256: "A".repeat(64) })], "manifest.entries[0].sha256");
    expectRefused([file("a", { target: "b" })], "manifest.entries[0].target");
    expectRefused([directory("a", { mode: 0o755 })], "manifest.entries[0].mode");
    expectRefused([directory("a", { size: 1n })], "manifest.entries[0].size");
    expectRefused([link("a", "b", { sha256: "a".repeat(64) })], "manifest.entries[0].sha256");
    expectRefused([link("a", "")], "manifest.entries[0].target");
    expectRefused([link("a", "b\0")], "manifest.entries[0].target");
    expectRefused([link("a", "x".repeat(4_097))], "manifest.entries[0].target");
  });
});

describe("a link", () => {
  it.each(["b", ".", "missing", "missing/../b", "./b/../b", "a", "a/b"])("at the top to %j stays inside", (target) => {
    expectTaken(link("a", target), directory("b"));
  });

  it.each(["..", "/etc", "../x", "b/../..", "missing/../..", "..\\x", "x\\..\\.."])("at the top to %j is refused", (target) => {
    expectRefused([link("a", target), directory("b")], "manifest.entries[0].target");
  });

  it("is followed through other links, as the kernel does", () => {
    // By their words both stay inside; but `p/q/up` is `p`, so that one more step up than `p` leaves.
    expectTaken(directory("p"), directory("p/q"), link("p/q/up", ".."), link("t", "p/q/up/.."));
    expectRefused([directory("p"), directory("p/q"), link("p/q/up", ".."), link("t", "p/q/up/../..")], "manifest.entries[3].target");
    expectRefused([link("a", "t/.."), directory("p"), link("t", ".")], "manifest.entries[0].target");
    // And by its words this one leaves, while it does not.
    expectTaken(directory("p"), directory("p/q"), link("t", "u/../../p"), link("u", "p/q"));
  });

  it("may be a part of a loop, and chains have a bound, from whichever end they are looked at", () => {
    expectTaken(link("a", "b"), link("b", "a"), link("c", "a/.."));
    const name = (index: number) => `l${String(index).padStart(2, "0")}`;
    const chain = (count: number, step: 1 | -1) =>
      Array.from({ length: count }, (_, index) => link(name(index), index + step < 0 || index + step >= count ? "end" : name(index + step)));
    for (const step of [1, -1] as const) {
      expectTaken(...chain(40, step));
      expect(() => check(...chain(41, step))).toThrow(/more than 40 links/);
    }
  });

  it("costs no more where many go through many", () => {
    const deep = Array.from({ length: 20_000 }, (_, index) => link(`l${String(index).padStart(5, "0")}`, `${"./".repeat(20)}m/../m/../m/../m`));
    expectTaken(directory("d"), ...deep, link("m", "d"));
  });
});

describe("the order of paths", () => {
  it("is that of their bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (one, other) => {
        expect(Math.sign(compareUtf8(one, other))).toBe(Math.sign(Buffer.compare(Buffer.from(one), Buffer.from(other))));
      }),
    );
  });
});
