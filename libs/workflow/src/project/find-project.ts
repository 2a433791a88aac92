import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** What makes a directory a project. */
const MARKERS = [".forge", "runtime.yaml"];

/** The root of the project that a directory belongs to: itself or the nearest one above with `.forge` or `runtime.yaml`; undefined when there is none. */
export async function findProject(start: string): Promise<string | undefined> {
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    if (await isProject(directory)) return directory;
    if (directory === dirname(directory)) return undefined;
  }
}

/** Whether a directory itself is a project's root. */
export async function isProject(directory: string): Promise<boolean> {
  const found = await Promise.all(MARKERS.map((marker) => exists(join(directory, marker))));
  return found.some(Boolean);
}

/** Whether something is at a path, and of a kind that is asked for. */
export async function exists(path: string, kind?: "file" | "directory"): Promise<boolean> {
  try {
    const found = await stat(path);
    return kind === undefined || (kind === "file" ? found.isFile() : found.isDirectory());
  } catch {
    // Missing, or out of reach: either way there is nothing to read.
    return false;
  }
}
