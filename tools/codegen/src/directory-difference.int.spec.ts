import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { directoryDifference } from "./directory-difference.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "forge-codegen-"));
});
afterEach(async () => {
  await rm(root, { recursive: true });
});

async function directory(name: string, files: Record<string, string>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, name, path, ".."), { recursive: true });
    await writeFile(join(root, name, path), text);
  }
  return join(root, name);
}

it("finds nothing between equal directories", async () => {
  const files = { "a.ts": "a", "deep/b.ts": "b" };
  expect(await directoryDifference(await directory("expected", files), await directory("actual", files))).toEqual([]);
});

it("names each file that is missing, left over or edited by hand", async () => {
  const expected = await directory("expected", { "same.ts": "same", "deep/new.ts": "new", "edited.ts": "generated" });
  const actual = await directory("actual", { "same.ts": "same", "deep/old.ts": "old", "edited.ts": "by hand" });
  expect(await directoryDifference(expected, actual)).toEqual(["missing: deep/new.ts", "without a source: deep/old.ts", "differs from its source: edited.ts"]);
});
