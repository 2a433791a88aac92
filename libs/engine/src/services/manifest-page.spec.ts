import { create, toBinary } from "@bufbuild/protobuf";
import { compareUtf8, EntryType, ManifestSchema } from "@forge/protocol/workspace";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { manifestPage } from "./manifest-page.ts";

function encoded(paths: readonly string[], target = ""): Uint8Array {
  return toBinary(ManifestSchema, create(ManifestSchema, { entries: paths.map((path) => ({ path, type: EntryType.SYMLINK, target })) }));
}

const path = fc.string({ unit: "binary", minLength: 1, maxLength: 8 });

describe("a page of a manifest", () => {
  it("has what comes after a path, in order, and says where the next one begins", () => {
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 20 }), fc.option(path, { nil: "" }), fc.integer({ min: 1, max: 25 }), (paths, afterPath, pageSize) => {
        const sorted = paths.toSorted(compareUtf8);
        const rest = sorted.filter((each) => afterPath === "" || compareUtf8(each, afterPath) > 0);
        const page = manifestPage(encoded(sorted, "x"), afterPath, pageSize);
        expect(page.entries.map((entry) => entry.path)).toEqual(rest.slice(0, pageSize));
        expect(page.nextAfterPath).toBe(rest.length > pageSize ? rest[pageSize - 1] : "");
      }),
    );
  });

  it("has at most 1 MiB, and at least one entry", () => {
    const paths = Array.from({ length: 1_000 }, (_, index) => String(index).padStart(4, "0"));
    const all = encoded(paths, "t".repeat(4_096));
    const found: string[] = [];
    for (let afterPath = ""; ; ) {
      const page = manifestPage(all, afterPath, 5_000);
      expect(page.entries.length).toBeGreaterThan(200);
      expect(toBinary(ManifestSchema, create(ManifestSchema, { entries: [...page.entries] })).length).toBeLessThanOrEqual(1024 * 1024);
      found.push(...page.entries.map((entry) => entry.path));
      if (page.nextAfterPath === "") break;
      afterPath = page.nextAfterPath;
    }
    expect(found).toEqual(paths);
  });
});
