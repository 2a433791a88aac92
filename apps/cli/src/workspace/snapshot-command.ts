import path from "node:path";
import { RevisionSchema } from "@forge/protocol/workspace";
import { captureRevision } from "@forge/workspace";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { formatBytes } from "../output/format-bytes.ts";
import { messageLine } from "../output/message-json.ts";
import { oneLine } from "../output/text.ts";
import { locateProject } from "../server/locate-project.ts";
import { openLink } from "../server/open-link.ts";
import { SHORT_ID_LENGTH } from "./find-revision.ts";
import { doLongWork } from "./long-work.ts";

export interface SnapshotOptions extends ServerOptions {
  readonly label?: string;
  readonly exclude?: readonly string[];
}

/** `forge workspace snapshot`: keeps the state of a directory as a revision. */
export async function snapshotCommand(context: Context, directory: string | undefined, options: SnapshotOptions): Promise<number> {
  const { terminal } = context;
  const { root, hint } = await locateProject(context, options, { hasData: false });
  const link = await openLink(context, options, { root, reads: false });
  try {
    const { label = "", exclude } = options;
    const from = directory === undefined ? root : path.resolve(context.directory, directory);
    const revision = await doLongWork(context, options, (work) => link.call((client) => captureRevision(client, from, { label, exclude, ...work })));
    terminal.print(options.json === true ? messageLine(RevisionSchema, revision) : revision.revisionId);
    if (options.json === true) return EXIT.OK;
    terminal.note(`${revision.entryCount} entries, ${formatBytes(Number(revision.size))}`);
    if (label !== revision.label)
      terminal.note(
        `this state was kept before ${revision.label === "" ? "without a label" : `with the label ${JSON.stringify(oneLine(revision.label))}`}, and stays so`,
      );
    if (terminal.isLive)
      terminal.note(terminal.errorStyle.dim(`restore it with: forge workspace restore ${revision.revisionId.slice(0, SHORT_ID_LENGTH)} <directory>${hint}`));
    return EXIT.OK;
  } finally {
    await link.close();
  }
}
