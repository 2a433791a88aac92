import path from "node:path";
import { type DriftEntry, driftReport } from "@forge/workspace";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { Style } from "../output/style.ts";
import { openExisting } from "../server/open-link.ts";
import { findRevisionId, SHORT_ID_LENGTH } from "./find-revision.ts";
import { doLongWork } from "./long-work.ts";
import { showPath } from "./show-path.ts";

export interface DriftOptions extends ServerOptions {
  readonly exclude?: readonly string[];
}

/** `forge workspace drift`: how a directory differs from a revision. */
export async function driftCommand(context: Context, id: string, directory: string | undefined, options: DriftOptions): Promise<number> {
  const { terminal } = context;
  const { link, root } = await openExisting(context, options, { reads: true });
  try {
    const revisionId = await findRevisionId(link, id);
    const compared = directory === undefined ? root : path.resolve(context.directory, directory);
    const { exclude } = options;
    const { entries } = await doLongWork(context, options, (work) => link.call((client) => driftReport(client, revisionId, compared, { exclude, ...work })));
    for (const entry of entries) terminal.print(options.json === true ? entryJson(entry) : entryLine(entry, terminal.style));
    if (entries.length === 0 && options.json !== true) terminal.note(`no drift: ${showPath(compared)} is revision ${revisionId.slice(0, SHORT_ID_LENGTH)}`);
    return entries.length === 0 ? EXIT.OK : EXIT.FAILED;
  } finally {
    await link.close();
  }
}

function entryJson({ path: changed, change, differs }: DriftEntry): string {
  return JSON.stringify({ path: changed, change, ...(differs.length === 0 ? {} : { differs }) });
}

function entryLine({ marker, path: changed, differs }: DriftEntry, style: Style): string {
  const text = `${marker} ${showPath(changed)}`;
  const coloured = { "+": style.green(text), "-": style.red(text), "~": style.yellow(text) }[marker];
  return `${coloured}${differs.length === 0 ? "" : style.dim(` (${differs.join(", ")})`)}`;
}
