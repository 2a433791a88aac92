import { appendFile, chmod, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { dataDirectoryOf } from "@forge/host/project";
import { hasData } from "../server/locate-project.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { looksSecret } from "./looks-secret.ts";
import { asOneLine } from "./typed-line.ts";

/** Lines that were typed before, newest first. */
export interface LineHistory {
  /** The line editor adds to them by itself. */
  readonly lines: string[];
  /** Keeps a line for the next conversation, unless it looks like a secret. */
  readonly keep: (line: string) => Promise<void>;
}

const LINES_MAX = 1_000;
const BYTES_MAX = 1_048_576;

/** The lines of a project's conversations, in a file beside its data, for its owner only. Nothing is kept where there is no such place. */
export async function openLineHistory({ root }: Pick<ProjectLink, "root">): Promise<LineHistory> {
  if (!(await hasData(root))) return { lines: [], keep: async () => undefined };
  const file = path.join(dataDirectoryOf(root), "chat-history.jsonl");
  const lines = await readHistory(file);
  return {
    lines,
    keep: async (line) => {
      if (looksSecret(line)) {
        const index = lines.indexOf(asOneLine(line));
        if (index >= 0) lines.splice(index, 1);
        return;
      }
      await appendFile(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    },
  };
}

async function readHistory(file: string): Promise<string[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  await chmod(file, 0o600);
  const stored = text.split("\n").flatMap(lineOf);
  const newest = stored.slice(-LINES_MAX);
  if (stored.length > 2 * LINES_MAX || text.length > BYTES_MAX)
    await writeFile(file, newest.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });
  return [...new Set(newest.toReversed().map(asOneLine))];
}

function lineOf(json: string): string[] {
  try {
    const line: unknown = JSON.parse(json);
    return typeof line === "string" && line !== "" ? [line] : [];
  } catch {
    // The end of a line that was not written whole.
    return [];
  }
}
