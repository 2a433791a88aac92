import { lstat, mkdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { directLauncher } from "./launcher.ts";
import { makeRuntimeDirectory } from "./runtime-directory.ts";
import { makeDirectory, removeDirectory } from "./testing/processes.ts";

const launcher = directLauncher(true);
const temporary = process.env.TMPDIR;
let directory: string;
let made: string[];

beforeEach(async () => {
  directory = await makeDirectory();
  made = [];
});
afterEach(async () => {
  if (temporary === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = temporary;
  for (const one of made) await rm(one, { recursive: true, force: true });
  await removeDirectory(directory);
});

async function make(parent: string): Promise<string> {
  process.env.TMPDIR = parent;
  const runtimeDirectory = await makeRuntimeDirectory(path.join(directory, "data"), launcher);
  made.push(runtimeDirectory);
  return runtimeDirectory;
}

test("it is the same for one data directory, for its owner only, and empty again after a crash", async () => {
  const first = await make(directory);
  expect(path.dirname(first)).toBe(directory);
  expect((await stat(first)).mode & 0o777).toBe(0o700);
  await writeFile(path.join(first, ".s.PGSQL.5432.lock"), "1\n");
  expect(await make(directory)).toBe(first);
  await expect(stat(path.join(first, ".s.PGSQL.5432.lock"))).rejects.toMatchObject({ code: "ENOENT" });
});

test("a temporary directory that is too long for a socket, or not there, is passed by", async () => {
  const long = path.join(directory, "x".repeat(100));
  await mkdir(long);
  expect(path.dirname(await make(long))).toBe("/tmp");
  expect(path.dirname(await make(path.join(directory, "missing")))).toBe("/tmp");
});

test("a name that something else has taken is left alone", async () => {
  const first = await make(directory);
  await rm(first, { recursive: true });
  const target = path.join(directory, "target");
  await mkdir(target);
  await symlink(target, first);
  expect(path.dirname(await make(directory))).toBe("/tmp");
  expect((await lstat(first)).isSymbolicLink()).toBe(true);
});
