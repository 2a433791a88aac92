import { StreamKind } from "@forge/protocol/common";
import { SessionSchema } from "@forge/protocol/session";
import { RunSchema } from "@forge/protocol/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId, findStream } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import { runLines } from "./run-lines.ts";
import { sessionLines } from "./session-lines.ts";

/** `forge inspect`: what is true of a run or session now. */
export async function inspectCommand(context: Context, id: string, options: ServerOptions): Promise<number> {
  const { terminal } = context;
  checkId(id);
  const { link } = await openExisting(context, options, { reads: true });
  try {
    const found = await findStream(link, id);
    if (options.json === true) {
      terminal.print(found.kind === StreamKind.RUN ? messageLine(RunSchema, found.run) : messageLine(SessionSchema, found.session));
      return EXIT.OK;
    }
    const columns = terminal.columns();
    const lines = found.kind === StreamKind.RUN ? runLines(found.run, terminal.style, columns) : sessionLines(found.session, terminal.style, columns);
    for (const line of lines) terminal.print(line);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}
