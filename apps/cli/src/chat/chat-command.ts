import { commandHeader } from "@forge/client";
import { type Session, SessionSchema } from "@forge/protocol/session";
import { openProject, toolPolicy } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { messageJson } from "../output/message-json.ts";
import { checkId } from "../server/find-stream.ts";
import { locateProject } from "../server/locate-project.ts";
import { openLink } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { converse } from "./converse.ts";
import { readTurns } from "./read-turns.ts";

export interface ChatOptions extends ServerOptions {
  readonly model?: string;
  readonly tool?: readonly string[];
  readonly system?: string;
}

const MODEL_DEFAULT = "demo/chat";
/** Reading is allowed by the default policy; the others are asked about. */
const TOOLS_DEFAULT = ["tools.read_file", "tools.search", "tools.file", "tools.shell"];
const SYSTEM_DEFAULT = "You are a helpful assistant in a person's project. Its files are your workspace.";

/** `forge chat`: a conversation in a new session, or in one that is there. */
export async function chatCommand(context: Context, sessionId: string | undefined, options: ChatOptions): Promise<number> {
  if (sessionId !== undefined) checkId(sessionId);
  const { root, hint } = await locateProject(context, options, { hasData: sessionId !== undefined });
  const link = await openLink(context, options, { root, reads: false });
  try {
    const id = sessionId ?? (await createSession(link, options));
    const { session } = await link.call((client) => client.session.getSessionSnapshot({ sessionId: id }));
    const shown = { link, session: session as Session, hint };
    if (options.json === true) {
      context.terminal.print(JSON.stringify({ session: messageJson(SessionSchema, shown.session) }));
      return await readTurns(context, shown, { json: true });
    }
    return context.terminal.canAsk ? await converse(context, shown) : await readTurns(context, shown, { json: false });
  } finally {
    await link.close();
  }
}

async function createSession(link: ProjectLink, options: ChatOptions): Promise<string> {
  const { config } = await openProject(link.root);
  const header = commandHeader();
  const agent = { model: options.model ?? MODEL_DEFAULT, system: options.system ?? SYSTEM_DEFAULT, tools: [...(options.tool ?? TOOLS_DEFAULT)] };
  const { sessionId } = await link.call((client) => client.session.createSession({ header, agent, policy: toolPolicy(config), queue: link.queue }));
  return sessionId;
}
