import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** A fresh directory of the test's own. */
export async function makeDirectory(): Promise<string> {
  return await realpath(await mkdtemp(path.join(tmpdir(), "forge-host-")));
}

export async function removeDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}
