import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { checkId } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import { reviewSession } from "./review-session.ts";

/** `forge review`: what a session was asked, planned, changed, ran and proved. */
export async function reviewCommand(context: Context, id: string, options: ServerOptions & { readonly markdown?: boolean }): Promise<number> {
  checkId(id);
  const { link } = await openExisting(context, options, { reads: true });
  try {
    await link.call((client) => client.session.getSessionSnapshot({ sessionId: id }));
    const { review, markdown } = await reviewSession(link, id);
    context.terminal.out(options.json === true ? `${JSON.stringify(review)}\n` : markdown);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}
