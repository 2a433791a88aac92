import { locateWorkspace } from "../agent/locate-workspace.ts";
import { settleTrust, trustLines, trustOf } from "../agent/workspace-trust.ts";
import type { CommonOptions, Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";

export interface TrustOptions extends CommonOptions {
  readonly show?: boolean;
  readonly revoke?: boolean;
}

/** `forge trust`: lets what a workspace brings run, shows it, or takes it back. */
export async function trustCommand(context: Context, options: TrustOptions): Promise<number> {
  const { terminal, environment } = context;
  const { root } = await locateWorkspace(context, options, { hasData: false });
  const trust = await trustOf(environment);
  if (options.revoke === true) {
    const had = await trust.distrust(root);
    terminal.print(options.json === true ? JSON.stringify({ root, revoked: had }) : had ? `${root} is trusted no more.` : `${root} was not trusted.`);
    return EXIT.OK;
  }
  if (options.show !== true) {
    const before = await trust.readTrust(root);
    if (options.json !== true) for (const line of trustLines(root, before, terminal.style)) terminal.print(line);
    await settleTrust(context, root, { accepts: true, canAsk: false });
  }
  const state = await trust.readTrust(root);
  if (options.json === true)
    terminal.print(JSON.stringify({ root, state: state.state, digest: state.digest, executes: state.executes, changed: state.changed }));
  else if (options.show === true) for (const line of trustLines(root, state, terminal.style)) terminal.print(line);
  else terminal.print("Trusted, until one of these files changes.");
  return EXIT.OK;
}
