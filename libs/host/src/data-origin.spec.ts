import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claimData, dataOrigin } from "./data-origin.ts";

let base: string;
let state: string;
let data: string;

beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), "forge-origin-"));
  state = path.join(base, "state");
  data = path.join(base, "project", ".forge", "data");
});

afterEach(() => rm(base, { recursive: true, force: true }));

async function keepSomething(directory = data): Promise<void> {
  await mkdir(path.join(directory, "postgres-18"), { recursive: true });
}

test("nothing is kept in a directory that is not there, or that only the log is in", async () => {
  expect(await dataOrigin(state, data)).toStrictEqual({ kind: "none" });
  await mkdir(data, { recursive: true });
  await writeFile(path.join(data, "forge.log"), "");
  expect(await dataOrigin(state, data)).toStrictEqual({ kind: "none" });
});

test("what was claimed is the user's own; that its code was asked for is kept", async () => {
  await claimData(state, data, { runsCode: false });
  await keepSomething();
  expect(await dataOrigin(state, data)).toStrictEqual({ kind: "own", runsCode: false });
  await claimData(state, data, { runsCode: true });
  await claimData(state, data, { runsCode: false });
  expect(await dataOrigin(state, data)).toStrictEqual({ kind: "own", runsCode: true });
});

test("what came along is foreign: without a marker, with an empty one, with somebody's, and as a copy of the user's own", async () => {
  await keepSomething();
  expect(await dataOrigin(state, data)).toStrictEqual({ kind: "foreign" });
  for (const marker of ["", "0b2c4e0e-0000-4000-8000-000000000000"]) {
    await writeFile(path.join(data, ".forge-data"), marker);
    expect(await dataOrigin(state, data)).toStrictEqual({ kind: "foreign" });
  }
  await claimData(state, data, { runsCode: true });
  const copy = path.join(base, "copy");
  await cp(data, copy, { recursive: true });
  expect(await dataOrigin(state, copy)).toStrictEqual({ kind: "foreign" });
  expect(await dataOrigin(path.join(base, "other-state"), data)).toStrictEqual({ kind: "foreign" });
  // Another directory in the place of the claimed one does not inherit what was said of that.
  await rename(data, path.join(base, "old"));
  await keepSomething();
  await writeFile(path.join(data, ".forge-data"), "1b2c4e0e-0000-4000-8000-000000000000");
  expect(await dataOrigin(state, data)).toStrictEqual({ kind: "foreign" });
});

test("taken over, what ran in the directory before does not count as asked for", async () => {
  await claimData(state, data, { runsCode: true });
  await keepSomething();
  await writeFile(path.join(data, ".forge-data"), "0b2c4e0e-0000-4000-8000-000000000000");
  await claimData(state, data, { runsCode: false });
  expect(await dataOrigin(state, data)).toStrictEqual({ kind: "own", runsCode: false });
});

test("several that begin at once agree", async () => {
  await Promise.all(Array.from({ length: 8 }, (_, index) => claimData(state, data, { runsCode: index === 3 })));
  await keepSomething();
  expect(await dataOrigin(state, data)).toMatchObject({ kind: "own" });
  expect((await readFile(path.join(data, ".forge-data"), "utf8")).length).toBe(36);
});
