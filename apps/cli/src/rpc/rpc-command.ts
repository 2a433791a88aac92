import { Console } from "node:console";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { locateProject } from "../server/locate-project.ts";
import { openLink } from "../server/open-link.ts";
import { remoteOf } from "../server/remote.ts";
import { onSignals } from "../signals.ts";
import { linkCaller } from "./caller.ts";
import { serveLines } from "./serve-lines.ts";

/** `forge rpc`: the project's server, spoken to by lines of JSON on standard input and output. */
export async function rpcCommand(context: Context, options: ServerOptions): Promise<number> {
  // Standard output carries answers and nothing else, whatever a library has to say.
  globalThis.console = new Console(process.stderr, process.stderr);
  const { root } = await locateProject(context, options, { hasData: remoteOf(context, options) === undefined });
  const link = await openLink(context, { ...options, json: true }, { root, reads: false, code: "all" });
  const leave = new AbortController();
  const release = onSignals({ SIGINT: () => leave.abort(), SIGTERM: () => leave.abort() });
  try {
    await serveLines({ input: process.stdin, output: process.stdout, caller: linkCaller(link), signal: leave.signal });
    return EXIT.OK;
  } finally {
    release();
    process.stdin.destroy();
    await link.close();
  }
}
