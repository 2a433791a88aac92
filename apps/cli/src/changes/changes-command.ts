import { ChangeSchema } from "@forge/protocol/session";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import { changeListLines, listChanges } from "./list-changes.ts";

/** `forge session changes`: the changes of files that a session's tools made, oldest first. */
export async function changesCommand(context: Context, id: string, options: ServerOptions): Promise<number> {
  checkId(id);
  const { terminal } = context;
  const { link } = await openExisting(context, options, { reads: true });
  try {
    const changes = await listChanges(link, id);
    if (options.json === true) for (const change of changes) terminal.print(messageLine(ChangeSchema, change));
    else for (const line of changeListLines(changes, terminal.style)) terminal.print(line);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}
