import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { RevisionSchema } from "@forge/protocol/workspace";
import { restoreRevision } from "@forge/workspace";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { formatBytes } from "../output/format-bytes.ts";
import { messageJson } from "../output/message-json.ts";
import { openExisting } from "../server/open-link.ts";
import { findRevisionId } from "./find-revision.ts";
import { doLongWork } from "./long-work.ts";
import { showPath } from "./show-path.ts";

/** `forge workspace restore`: makes an empty directory what a revision says. */
export async function restoreCommand(context: Context, id: string, directory: string, options: ServerOptions): Promise<number> {
  const { terminal } = context;
  const target = path.resolve(context.directory, directory);
  // The directory is put in the place of another one, in which a shell would stay.
  if (target === path.resolve(context.directory)) throw ForgeError.validation("directory", "you are in that directory: name another one, or one below it");
  const { link } = await openExisting(context, options, { reads: true });
  try {
    const revisionId = await findRevisionId(link, id);
    const revision = await doLongWork(context, options, (work) => link.call((client) => restoreRevision(client, revisionId, target, work)));
    terminal.print(
      options.json === true
        ? JSON.stringify({ revision: messageJson(RevisionSchema, revision), directory: target })
        : `Restored ${revision.entryCount} entries, ${formatBytes(Number(revision.size))}, in ${showPath(target)}`,
    );
    return EXIT.OK;
  } finally {
    await link.close();
  }
}
