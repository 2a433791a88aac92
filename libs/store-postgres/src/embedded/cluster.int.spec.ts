import { spawnSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startEmbedded } from "./start-embedded.ts";
import { makeDirectory, removeDirectory } from "./testing/processes.ts";

let directory: string;
beforeEach(async () => {
  directory = await makeDirectory();
});
afterEach(() => removeDirectory(directory));

async function failure(dataDirectory: string): Promise<ForgeError> {
  const server = await startEmbedded({ dataDirectory }).catch((error: unknown) => error as ForgeError);
  if ("stop" in server) {
    await server.stop();
    throw new Error("It started.");
  }
  return server;
}

test("data of another major version is refused, whether its directory or its content says so, and nothing is created beside it", async () => {
  await mkdir(path.join(directory, "postgres-17"));
  const older = await failure(directory);
  expect(older).toMatchObject({ code: ErrorCode.UNSUPPORTED_VERSION, reason: "DATA_DIRECTORY_VERSION" });
  expect(older.detail.metadata).toEqual({ found: "17", expected: "18" });
  expect(await readdir(directory)).not.toContain("postgres-18");

  await mkdir(path.join(directory, "postgres-18"));
  await writeFile(path.join(directory, "postgres-18", "PG_VERSION"), "19\n");
  expect((await failure(directory)).detail.metadata).toEqual({ found: "19", expected: "18" });
});

test("a directory that holds something else than a database is left alone", async () => {
  await mkdir(path.join(directory, "postgres-18"));
  await writeFile(path.join(directory, "postgres-18", "notes.txt"), "mine");
  expect(await failure(directory)).toMatchObject({ code: ErrorCode.STORAGE_ERROR, reason: "DATA_DIRECTORY_BROKEN" });
  expect(await readdir(path.join(directory, "postgres-18"))).toEqual(["notes.txt"]);
});

test("a server that does not start says why in its own words, and the next attempt is not hindered by it", async () => {
  await (await startEmbedded({ dataDirectory: directory })).stop();
  await writeFile(path.join(directory, "postgres-18", "global", "pg_control"), "broken");
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const failed = await failure(directory);
    expect(failed).toMatchObject({ code: ErrorCode.STORAGE_ERROR, reason: "EMBEDDED_DATABASE_FAILED" });
    expect(failed.detail.retryable).toBe(false);
    expect(failed.message).toContain(directory);
    expect(failed.message).toMatch(/pg_control/);
    expect(failed.message.length).toBeLessThanOrEqual(4_096);
  }
});

test("a file in the place of the data directory, and a path that is too long, are bad input", async () => {
  const file = path.join(directory, "file");
  await writeFile(file, "");
  expect((await failure(file)).detail).toMatchObject({ code: ErrorCode.VALIDATION, metadata: { field: "data_directory" } });
  expect((await failure(path.join(file, "below"))).detail).toMatchObject({ code: ErrorCode.VALIDATION, metadata: { field: "data_directory" } });
  const long = path.join(directory, ...Array.from({ length: 10 }, () => "x".repeat(100)));
  expect((await failure(long)).message).toMatch(/at most 900 work/);
});

test("a full disk is named as such and leaves nothing half-done", async ({ skip }) => {
  const disk = path.join(directory, "disk");
  await mkdir(disk);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", disk]).status !== 0) skip("mounting a small disk takes root's rights");
  try {
    expect(await failure(path.join(disk, "data"))).toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED, reason: "DISK_FULL" });
    expect((await readdir(path.join(disk, "data"))).filter((entry) => entry.startsWith("postgres-18"))).toEqual([]);
  } finally {
    spawnSync("umount", [disk]);
  }
});
