import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import path from "node:path";

/** The queue that only this project's own executor serves. */
export async function projectQueue(root: string): Promise<string> {
  return `project:${createHash("sha256")
    .update(await realpath(root))
    .digest("hex")
    .slice(0, 16)}`;
}

/** Where everything durable of a project lies. */
export function dataDirectoryOf(root: string): string {
  return path.join(root, ".forge", "data");
}
