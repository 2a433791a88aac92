import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import type { Session } from "@forge/protocol/session";
import type { CommandOptions } from "../arguments/command-options.ts";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId, findStream } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";

/** What was done: the answer for machines, a line for people. */
export interface Done<Desc extends DescMessage> {
  readonly schema: Desc;
  readonly answer: MessageShape<Desc>;
  readonly said: string;
  /** Absent: it went well. */
  readonly code?: number;
}

export interface SessionOptions extends ServerOptions, CommandOptions {}

export interface TurnOptions extends SessionOptions {
  /** Absent: the last one. */
  readonly turn?: string;
}

/** Reads the session, where a command has to know something of it. Errors: not_found; validation of an id that is a run's. */
export type ReadSession = () => Promise<Session>;

/** Does something to a session that is there, and tells what came of it. Errors: not_found; validation of an id that is a run's. */
export async function inSession<Desc extends DescMessage>(
  context: Context,
  id: string,
  options: ServerOptions,
  act: (link: ProjectLink, readSession: ReadSession) => Promise<Done<Desc>>,
): Promise<number> {
  checkId(id);
  const { link } = await openExisting(context, options, { reads: false });
  const readSession: ReadSession = async () => {
    const found = await findStream(link, id);
    if (found.kind !== StreamKind.SESSION) throw ForgeError.validation("id", `${id} is a run: name the session, which \`forge inspect ${id}\` shows`);
    return found.session;
  };
  try {
    const done = await act(link, readSession);
    tell(context, options, done);
    return done.code ?? EXIT.OK;
  } catch (error) {
    // A person is told more: that it is a run's id, or where sessions are listed.
    if (error instanceof ForgeError && error.code === ErrorCode.NOT_FOUND && options.json !== true) await readSession();
    throw error;
  } finally {
    await link.close();
  }
}

export function tell<Desc extends DescMessage>({ terminal }: Context, { json }: ServerOptions, { schema, answer, said }: Done<Desc>): void {
  terminal.print(json === true ? messageLine(schema, answer) : said);
}

/** The turn that was named, or the last one: whether it is still active, the server says. */
export async function turnIdOf(readSession: ReadSession, { turn: named }: TurnOptions): Promise<string> {
  if (named !== undefined) return named;
  const { sessionId, turn } = await readSession();
  if (turn !== undefined) return turn.turnId;
  throw new ForgeError(ErrorCode.CONFLICT, `session ${sessionId} has no active turn`, { reason: "TURN_NOT_ACTIVE", relatedIds: [sessionId] });
}
