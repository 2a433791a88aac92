import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { builtEntry } from "./built-entry.js";

let root: string;
const source = (): string => path.join(root, "apps", "cli", "a b.ts");
const folder = (): string => path.join(root, "libs", "migrations");
const entry = () => builtEntry(pathToFileURL(`${root}/`));

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "forge-built-"));
  await mkdir(path.dirname(source()), { recursive: true });
  await mkdir(path.join(root, "dist", "cli"), { recursive: true });
  await writeFile(source(), "export {};\n");
  await mkdir(path.join(folder(), "__pycache__"), { recursive: true });
  await writeFile(path.join(folder(), "0001.sql"), "select 1;\n");
  const { size, mtimeMs } = await stat(source());
  const list = [
    ["apps/cli/a b.ts", size, mtimeMs],
    ["libs/migrations/", 1, 0],
  ];
  await writeFile(path.join(root, "dist", "cli", "built-from.json"), JSON.stringify(list));
});
afterEach(() => rm(root, { recursive: true }));

it("finds the built command while its sources are as they were", () => {
  expect(entry()).toBe(pathToFileURL(path.join(root, "dist", "cli", "main.js")).href);
});

it.each([
  ["is of another time", () => utimes(source(), new Date(0), new Date(0))],
  ["is of another size and the same time", () => sameTime(() => writeFile(source(), "export { x };\n"))],
  ["is gone", () => rm(source())],
  ["has come into a folder that went into it as a whole", () => writeFile(path.join(folder(), "0002.sql"), "select 2;\n")],
  ["was such a folder, which is gone", () => rm(folder(), { recursive: true })],
])("finds none where a source %s", async (_, change) => {
  await change();
  expect(entry()).toBeUndefined();
});

it("finds none where nothing was built", async () => {
  await rm(path.join(root, "dist"), { recursive: true });
  expect(entry()).toBeUndefined();
});

async function sameTime(change: () => Promise<void>): Promise<void> {
  const { atimeMs, mtimeMs } = await stat(source());
  await change();
  await utimes(source(), atimeMs / 1000, mtimeMs / 1000);
}
