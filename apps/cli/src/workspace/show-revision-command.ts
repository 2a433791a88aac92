import { type Entry, EntrySchema, EntryType, type Revision, RevisionSchema } from "@forge/protocol/workspace";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { formatBytes } from "../output/format-bytes.ts";
import { formatMoment, momentMs } from "../output/format-time.ts";
import { messageJson } from "../output/message-json.ts";
import { oneLine } from "../output/text.ts";
import { openExisting } from "../server/open-link.ts";
import { findRevisionId } from "./find-revision.ts";
import { showPath } from "./show-path.ts";

const PAGE_SIZE = 5_000;
/** "executable" and "1023.9 KiB" fit. */
const SIZE_WIDTH = 10;

/** `forge workspace show`: a revision and all its entries, which are printed as they come. */
export async function showRevisionCommand(context: Context, id: string, options: ServerOptions): Promise<number> {
  const { terminal } = context;
  const { link } = await openExisting(context, options, { reads: true });
  try {
    const revisionId = await findRevisionId(link, id);
    for (let afterPath = ""; ; ) {
      const request = { revisionId, afterPath, pageSize: PAGE_SIZE };
      const { revision, entries, nextAfterPath } = await link.call((client) => client.workspace.getRevision(request));
      if (afterPath === "" && revision !== undefined) {
        if (options.json === true) terminal.print(JSON.stringify({ revision: messageJson(RevisionSchema, revision) }));
        else for (const line of headLines(revision)) terminal.print(line);
      }
      for (const entry of entries) terminal.print(options.json === true ? JSON.stringify({ entry: messageJson(EntrySchema, entry) }) : entryLine(entry));
      if (nextAfterPath === "") return EXIT.OK;
      afterPath = nextAfterPath;
    }
  } finally {
    await link.close();
  }
}

function headLines({ revisionId, label, parentId, entryCount, size, createdAt }: Revision): string[] {
  return [
    `revision ${revisionId}`,
    ...(label === "" ? [] : [`label    ${oneLine(label)}`]),
    ...(parentId === "" ? [] : [`parent   ${parentId}`]),
    `created  ${formatMoment(momentMs(createdAt))}`,
    `holds    ${entryCount} entries, ${formatBytes(Number(size))}`,
    "",
  ];
}

function entryLine({ type, path, mode, size, target }: Entry): string {
  const shown = showPath(path);
  if (type === EntryType.DIRECTORY) return `${"".padStart(SIZE_WIDTH)}  d  ${shown}/`;
  if (type === EntryType.SYMLINK) return `${"".padStart(SIZE_WIDTH)}  l  ${shown} -> ${showPath(target)}`;
  return `${formatBytes(Number(size)).padStart(SIZE_WIDTH)}  ${mode === 0o755 ? "x" : "-"}  ${shown}`;
}
