import { SessionSchema } from "@forge/protocol/session";
import { openSession, prepareWorkspace, type SessionOptions } from "../agent/open-session.ts";
import { TurnContext } from "../agent/turn-context.ts";
import { checkBypass } from "../agent/workspace-trust.ts";
import type { Context } from "../context.ts";
import { messageJson } from "../output/message-json.ts";
import { checkId } from "../server/find-stream.ts";
import { converse } from "./converse.ts";
import { readTurns } from "./read-turns.ts";
import { TypeAhead } from "./type-ahead.ts";

/** `forge chat`: a conversation in a new session, or in one that is there. */
export async function chatCommand(context: Context, sessionId: string | undefined, options: SessionOptions): Promise<number> {
  if (sessionId !== undefined) checkId(sessionId);
  const isTalk = context.terminal.canAsk && options.json !== true;
  const workspace = await prepareWorkspace(context, options, { sessionId, canAsk: isTalk });
  const typed = new TypeAhead();
  // What is typed while the server starts is the first line, and must not get into what is shown meanwhile.
  const release = isTalk ? typed.hold() : undefined;
  const opened = await openSession(context, options, workspace, { sessionId }).finally(() => release?.());
  try {
    await using turns = new TurnContext(opened.link);
    // What a control plane elsewhere lets an agent do is not decided by a directory here.
    const isHere = opened.link.reach.kind !== "remote";
    const checkBypassHere = async (): Promise<void> => (isHere ? checkBypass(context.environment, opened.link.root) : undefined);
    if (isTalk) return await converse(context, { ...opened, turns, typed, checkBypass: checkBypassHere });
    if (options.json === true) context.terminal.print(JSON.stringify({ session: messageJson(SessionSchema, opened.session) }));
    return await readTurns(context, { ...opened, turns, checkBypass: checkBypassHere }, { json: options.json === true });
  } finally {
    await opened.link.close();
  }
}
