import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { findDataDirectory } from "@forge/workflow/data-directory";

/** The queue that only this project's own executor serves. */
export async function projectQueue(root: string): Promise<string> {
  return `project:${createHash("sha256")
    .update(await realpath(root))
    .digest("hex")
    .slice(0, 16)}`;
}

/** Where everything durable of a project lies: in `.forge/data`, unless its configuration's `db_path` names another directory. */
export function dataDirectoryOf(root: string): string {
  return findDataDirectory(root, process.env);
}
