import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDirectory, removeDirectory } from "./testing/directory.ts";
import { newToken, tokenIn } from "./tokens.ts";

let directory: string;

beforeEach(async () => {
  directory = await makeDirectory();
});
afterEach(() => removeDirectory(directory));

test("a token is made once, for its owner's eyes only, and nothing else is left", async () => {
  const token = await tokenIn(directory, "token");
  expect(token).toMatch(/^forge_[A-Za-z0-9_-]{43}$/);
  expect((await stat(path.join(directory, "token"))).mode & 0o777).toBe(0o600);
  expect(await tokenIn(directory, "token")).toBe(token);
  expect(await tokenIn(directory, "other")).not.toBe(token);
  expect((await readdir(directory)).toSorted()).toEqual(["other", "token"]);
});

test("everybody who asks at the same time gets the token that is kept", async () => {
  const tokens = new Set(await Promise.all(Array.from({ length: 20 }, () => tokenIn(directory, "token"))));
  expect([...tokens]).toEqual([(await readFile(path.join(directory, "token"), "utf8")).trim()]);
});

test.each(["", "\n", "forge_short", "rubbish\0", `${newToken()}x`])("a file that holds no token is replaced: %j", async (content) => {
  await writeFile(path.join(directory, "token"), content, { mode: 0o644 });
  const token = await tokenIn(directory, "token");
  expect(await readFile(path.join(directory, "token"), "utf8")).toBe(`${token}\n`);
  expect((await stat(path.join(directory, "token"))).mode & 0o777).toBe(0o600);
});

test("a token that a person wrote with spaces around it is used as it is", async () => {
  const token = newToken();
  await writeFile(path.join(directory, "token"), `  ${token}\r\n`);
  expect(await tokenIn(directory, "token")).toBe(token);
});

test("a missing directory is told", async () => {
  await expect(tokenIn(path.join(directory, "missing"), "token")).rejects.toMatchObject({ code: "ENOENT" });
});
