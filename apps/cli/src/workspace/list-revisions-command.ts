import { type Revision, RevisionSchema } from "@forge/protocol/workspace";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { formatBytes } from "../output/format-bytes.ts";
import { formatAge, momentMs } from "../output/format-time.ts";
import { messageLine } from "../output/message-json.ts";
import { type Column, table } from "../output/table.ts";
import { oneLine } from "../output/text.ts";
import { openReading } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { SHORT_ID_LENGTH } from "./find-revision.ts";

export interface ListRevisionsOptions extends ServerOptions {
  readonly label?: string;
  readonly limit: number;
}

const PAGE_MAX = 500;
const COLUMNS: readonly Column[] = [
  { title: "REVISION" },
  { title: "LABEL", shrinks: true },
  { title: "ENTRIES", align: "right" },
  { title: "SIZE", align: "right" },
  { title: "AGE", align: "right" },
];

/** `forge workspace list`: revisions, newest first. */
export async function listRevisionsCommand(context: Context, options: ListRevisionsOptions): Promise<number> {
  const { terminal } = context;
  const revisions = await listed(context, options);
  if (options.json === true) {
    for (const revision of revisions) terminal.print(messageLine(RevisionSchema, revision));
    return EXIT.OK;
  }
  if (revisions.length === 0) {
    terminal.note("no revisions");
    return EXIT.OK;
  }
  const idLength = terminal.isLive ? SHORT_ID_LENGTH : undefined;
  const rows = revisions.map(({ revisionId, label, entryCount, size, createdAt }) => [
    revisionId.slice(0, idLength),
    oneLine(label),
    String(entryCount),
    formatBytes(Number(size)),
    formatAge(momentMs(createdAt), Date.now()),
  ]);
  const [titles = "", ...lines] = table(COLUMNS, rows, terminal.isLive ? terminal.columns() : Number.MAX_SAFE_INTEGER);
  terminal.print(terminal.style.dim(titles));
  for (const line of lines) terminal.print(line);
  return EXIT.OK;
}

async function listed(context: Context, options: ListRevisionsOptions): Promise<readonly Revision[]> {
  const opened = await openReading(context, options);
  if (opened === undefined) return [];
  try {
    return await readPages(opened.link, options);
  } finally {
    await opened.link.close();
  }
}

async function readPages(link: ProjectLink, { label = "", limit }: ListRevisionsOptions): Promise<readonly Revision[]> {
  const all: Revision[] = [];
  for (let pageToken = ""; ; ) {
    const request = { label, pageSize: Math.min(PAGE_MAX, limit - all.length), pageToken };
    const page = await link.call((client) => client.workspace.listRevisions(request));
    all.push(...page.revisions);
    if (page.nextPageToken === "" || all.length >= limit) return all;
    pageToken = page.nextPageToken;
  }
}
