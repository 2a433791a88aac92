import { spawnSync } from "node:child_process";
import { readdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Address, readAddress, removeAddress, writeAddress } from "./address-file.ts";
import { makeDirectory, removeDirectory } from "./testing/directory.ts";

const OURS: Address = { url: "http://127.0.0.1:7233", pid: process.pid, startedAt: "2026-01-01T00:00:00.000Z", version: "0.1.0" };

let directory: string;

beforeEach(async () => {
  directory = await makeDirectory();
});
afterEach(() => removeDirectory(directory));

/** The id of a process that has ended. */
function endedPid(): number {
  return spawnSync(process.execPath, ["--version"]).pid;
}

describe("a server's address", () => {
  it("is found by whoever may read the data, and replaced by the next server's", async () => {
    await writeAddress(directory, { ...OURS, url: "http://127.0.0.1:1" });
    await writeAddress(directory, OURS);
    expect(await readAddress(directory)).toEqual(OURS);
    expect(await readdir(directory)).toEqual(["address.json"]);
    expect((await stat(path.join(directory, "address.json"))).mode & 0o777).toBe(0o600);
  });

  it("is absent where nobody has written one, or the directory is none", async () => {
    expect(await readAddress(directory)).toBeUndefined();
    expect(await readAddress(path.join(directory, "missing"))).toBeUndefined();
    await writeFile(path.join(directory, "file"), "");
    expect(await readAddress(path.join(directory, "file"))).toBeUndefined();
  });

  it("is absent once its process has ended", async () => {
    await writeAddress(directory, { ...OURS, pid: endedPid() });
    expect(await readAddress(directory)).toBeUndefined();
  });

  it.each([
    "",
    "{",
    "null",
    "5",
    "[]",
    "{}",
    '{"url": "http://127.0.0.1:1"}',
    ...[0, -1, 1.5, "1", null].map((pid) => JSON.stringify({ ...OURS, pid })),
    JSON.stringify({ ...OURS, url: "here" }),
  ])("is absent where the file holds something else: %s", async (content) => {
    await writeFile(path.join(directory, "address.json"), content);
    expect(await readAddress(directory)).toBeUndefined();
    await removeAddress(directory);
    await writeAddress(directory, OURS);
    expect(await readAddress(directory)).toEqual(OURS);
  });

  it("is removed by its own server only", async () => {
    await writeAddress(directory, { ...OURS, pid: process.ppid });
    await removeAddress(directory);
    expect(await readAddress(directory)).toMatchObject({ pid: process.ppid });
    await writeAddress(directory, OURS);
    await removeAddress(directory);
    expect(await readdir(directory)).toEqual([]);
    await removeAddress(directory);
  });
});
