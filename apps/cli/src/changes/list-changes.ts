import type { Change } from "@forge/protocol/session";
import { changeLines } from "../chat/change-lines.ts";
import { formatMoment, momentMs } from "../output/format-time.ts";
import type { Style } from "../output/style.ts";
import { oneLine } from "../output/text.ts";
import type { ProjectLink } from "../server/project-link.ts";

const PAGE_SIZE = 500;
/** More changes than anybody looks through. */
const CHANGES_MAX = 10_000;

/** The changes of files that a session's tools made, oldest first. */
export async function listChanges(link: ProjectLink, sessionId: string): Promise<Change[]> {
  const all: Change[] = [];
  for (let pageToken = ""; all.length < CHANGES_MAX; ) {
    const page = { sessionId, pageSize: PAGE_SIZE, pageToken };
    const { changes, nextPageToken } = await link.call((client) => client.session.listChanges(page));
    all.push(...changes);
    if (nextPageToken === "") break;
    pageToken = nextPageToken;
  }
  return all;
}

/** Them for people. */
export function changeListLines(changes: readonly Change[], style: Style): string[] {
  if (changes.length === 0) return ["No files were changed."];
  return changes.flatMap((change) => [
    `${style.bold(oneLine(change.tool))} ${style.dim(formatMoment(momentMs(change.occurredAt)))}${change.undone ? style.yellow(" taken back") : ""}`,
    ...changeLines(change, style).map((line) => `  ${line}`),
    style.dim(`  ${change.changeId}`),
  ]);
}
