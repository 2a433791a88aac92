import { commandHeader } from "@forge/client";
import { type Session, SessionSchema } from "@forge/protocol/session";
import { openProject, toolPolicy } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { messageJson } from "../output/message-json.ts";
import { checkDemoModels, explainModel } from "../server/explain-model.ts";
import { checkId } from "../server/find-stream.ts";
import { locateProject } from "../server/locate-project.ts";
import { openLink } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { remoteHint, remoteOf } from "../server/remote.ts";
import { converse } from "./converse.ts";
import { readTurns } from "./read-turns.ts";
import { TypeAhead } from "./type-ahead.ts";

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
  const isTalk = context.terminal.canAsk && options.json !== true;
  const typed = new TypeAhead();
  // What is typed while the server starts is the first line, and must not get into what is shown meanwhile.
  const release = isTalk ? typed.hold() : undefined;
  const opened = await open(context, sessionId, options).finally(() => release?.());
  try {
    if (options.json === true) {
      context.terminal.print(JSON.stringify({ session: messageJson(SessionSchema, opened.session) }));
      return await readTurns(context, opened, { json: true });
    }
    return isTalk ? await converse(context, { ...opened, typed }) : await readTurns(context, opened, { json: false });
  } finally {
    await opened.link.close();
  }
}

interface OpenSession {
  readonly link: ProjectLink;
  readonly session: Session;
  readonly hint: string;
}

async function open(context: Context, sessionId: string | undefined, options: ChatOptions): Promise<OpenSession> {
  const isRemote = remoteOf(context, options) !== undefined;
  const { root, hint } = await locateProject(context, options, { hasData: sessionId !== undefined && !isRemote });
  const link = await openLink(context, options, { root, reads: false });
  try {
    const id = sessionId ?? (await createSession(context, link, options));
    const { session } = await link.call((client) => client.session.getSessionSnapshot({ sessionId: id }));
    return { link, session: session as Session, hint: `${hint}${remoteHint(options)}` };
  } catch (error) {
    await link.close();
    throw error;
  }
}

async function createSession({ environment }: Context, link: ProjectLink, options: ChatOptions): Promise<string> {
  const { config } = await openProject(link.root);
  const header = commandHeader();
  const agent = { model: options.model ?? MODEL_DEFAULT, system: options.system ?? SYSTEM_DEFAULT, tools: [...(options.tool ?? TOOLS_DEFAULT)] };
  await checkDemoModels([agent.model], link, environment);
  const { sessionId } = await link
    .call((client) => client.session.createSession({ header, agent, policy: toolPolicy(config), queue: link.queue }))
    .catch(async (error: unknown) => {
      throw await explainModel(error, link, environment);
    });
  return sessionId;
}
