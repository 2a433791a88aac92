import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import path from "node:path";
import type { Finding } from "./read-archive.ts";
import type { ExportedEvent } from "./verify-archive.ts";

interface FileFact {
  readonly path: string;
  readonly before_sha256?: string;
  readonly after_sha256?: string;
}

interface Recorded {
  readonly change_id: string;
  readonly files?: readonly FileFact[];
}

/** What each file of the workspace was when the session last changed it, by path: its hash, or "" where it was deleted. Changes that were taken back count as what was before them. */
export function recordedFiles(events: readonly ExportedEvent[]): Map<string, string> {
  const undone = new Set(
    events.flatMap((event) => (event.workspace_change_undone as { readonly change_ids?: readonly string[] } | undefined)?.change_ids ?? []),
  );
  const files = new Map<string, string>();
  const first = new Map<string, string>();
  for (const event of events) {
    const change = event.workspace_change_recorded as Recorded | undefined;
    for (const file of change?.files ?? []) {
      if (!first.has(file.path)) first.set(file.path, file.before_sha256 ?? "");
      if (undone.has(change?.change_id ?? "")) files.set(file.path, files.get(file.path) ?? first.get(file.path) ?? "");
      else files.set(file.path, file.after_sha256 ?? "");
    }
  }
  return files;
}

/** Compares a directory with what a session left there. */
export async function workspaceDrift(directory: string, files: ReadonlyMap<string, string>, findings: Finding[]): Promise<void> {
  for (const [name, expected] of files) {
    const file = path.resolve(directory, name);
    if (!file.startsWith(`${path.resolve(directory)}${path.sep}`)) {
      findings.push({ file: name, problem: "leads out of the workspace" });
      continue;
    }
    const now = await hashOf(file);
    if (now === expected) continue;
    if (now === "") findings.push({ file: name, problem: "is missing from the workspace" });
    else
      findings.push({
        file: name,
        problem: expected === "" ? "was deleted by the session, and is there" : `differs from what the session left: ${now} in place of ${expected}`,
      });
  }
}

/** "" where there is nothing. A link is what it points to, as text. */
async function hashOf(file: string): Promise<string> {
  try {
    const found = await lstat(file);
    const hash = createHash("sha256");
    if (found.isSymbolicLink()) return hash.update(await readlink(file)).digest("hex");
    if (!found.isFile()) return "no file";
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
    return hash.digest("hex");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return "";
    throw error;
  }
}
