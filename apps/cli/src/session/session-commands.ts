import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { commandHeader } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import {
  CompactSessionResponseSchema,
  ContinueTurnResponseSchema,
  ForkSessionResponseSchema,
  type OpenCall,
  PauseTurnResponseSchema,
  ProvideInputResponseSchema,
  type Session,
  SteerTurnResponseSchema,
  UpdateSessionPolicyResponseSchema,
} from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId, findStream } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";

/** The names of decisions as they are typed, by their prefix-free enum name. */
type DecisionName = Exclude<keyof typeof Decision, "UNSPECIFIED">;

export interface ForkOptions extends ServerOptions {
  readonly seq?: number;
  readonly title?: string;
  readonly label?: Readonly<Record<string, string>>;
}

export interface PolicyOptions extends ServerOptions {
  readonly default?: DecisionName;
  /** Tools, or prefixes with a *, by decision; in the order in which they are tried. */
  readonly rule?: Readonly<Record<string, string>>;
}

/** What was done: the answer for machines, a line for people. */
interface Done<Desc extends DescMessage> {
  readonly schema: Desc;
  readonly answer: MessageShape<Desc>;
  readonly said: string;
}

/** `forge session steer`: tells the active turn more. */
export function steerCommand(context: Context, id: string, text: string, options: ServerOptions): Promise<number> {
  return inSession(context, id, options, async (link, session) => {
    const [turnId, header] = [activeTurnId(session), commandHeader()];
    const answer = await link.call((client) =>
      client.session.steerTurn({ header, sessionId: id, turnId, input: [{ kind: { case: "text", value: { text } } }] }),
    );
    return { schema: SteerTurnResponseSchema, answer, said: "Told." };
  });
}

/** `forge session pause`: holds the active turn before its next dispatch. */
export function pauseCommand(context: Context, id: string, options: ServerOptions): Promise<number> {
  return inSession(context, id, options, async (link, session) => {
    const [turnId, header] = [activeTurnId(session), commandHeader()];
    const answer = await link.call((client) => client.session.pauseTurn({ header, sessionId: id, turnId }));
    return { schema: PauseTurnResponseSchema, answer, said: "Paused. What runs, finishes." };
  });
}

/** `forge session continue`: lets a paused turn go on. */
export function continueCommand(context: Context, id: string, options: ServerOptions): Promise<number> {
  return inSession(context, id, options, async (link, session) => {
    const [turnId, header] = [activeTurnId(session), commandHeader()];
    const answer = await link.call((client) => client.session.continueTurn({ header, sessionId: id, turnId }));
    return { schema: ContinueTurnResponseSchema, answer, said: "The turn goes on." };
  });
}

/** `forge session answer`: answers the model's question. */
export function answerCommand(context: Context, id: string, text: string, options: ServerOptions & { readonly input?: string }): Promise<number> {
  return inSession(context, id, options, async (link, session) => {
    const [turnId, header] = [activeTurnId(session), commandHeader()];
    const inputId = options.input ?? onlyQuestion(session);
    const answer = await link.call((client) => client.session.provideInput({ header, sessionId: id, turnId, inputId, text }));
    return { schema: ProvideInputResponseSchema, answer, said: "Answered." };
  });
}

/** `forge session policy`: replaces the tool policy. */
export function policyCommand(context: Context, id: string, options: PolicyOptions): Promise<number> {
  return inSession(context, id, options, async (link) => {
    const header = commandHeader();
    const rules = Object.entries(options.rule ?? {}).map(([tool, decision]) => ({ tool, decision: decisionOf(decision) }));
    const policy = options.default === undefined ? { rules } : { rules, defaultDecision: Decision[options.default] };
    const answer = await link.call((client) => client.session.updateSessionPolicy({ header, sessionId: id, policy }));
    return { schema: UpdateSessionPolicyResponseSchema, answer, said: "The policy holds from the next call on." };
  });
}

/** `forge session compact`: lets a summary stand for the conversation. */
export function compactCommand(context: Context, id: string, summary: string, options: ServerOptions & { readonly seq?: number }): Promise<number> {
  return inSession(context, id, options, async (link) => {
    const header = commandHeader();
    const throughSeq = BigInt(options.seq ?? 0);
    const answer = await link.call((client) => client.session.compactSession({ header, sessionId: id, summary, throughSeq }));
    return { schema: CompactSessionResponseSchema, answer, said: "Compacted. The events stay." };
  });
}

/** `forge session fork`: makes a session with this one's history. */
export function forkCommand(context: Context, id: string, options: ForkOptions): Promise<number> {
  return inSession(context, id, options, async (link) => {
    const header = commandHeader();
    const request = { header, sessionId: id, throughSeq: BigInt(options.seq ?? 0), title: options.title ?? "", labels: { ...options.label } };
    const answer = await link.call((client) => client.session.forkSession(request));
    return { schema: ForkSessionResponseSchema, answer, said: answer.sessionId };
  });
}

async function inSession<Desc extends DescMessage>(
  context: Context,
  id: string,
  options: ServerOptions,
  act: (link: ProjectLink, session: Session) => Promise<Done<Desc>>,
): Promise<number> {
  checkId(id);
  const { link } = await openExisting(context, options, { reads: false });
  try {
    const found = await findStream(link, id);
    if (found.kind !== StreamKind.SESSION) throw ForgeError.validation("id", `${id} is a run: name the session, which \`forge inspect ${id}\` shows`);
    const { schema, answer, said } = await act(link, found.session);
    context.terminal.print(options.json === true ? messageLine(schema, answer) : said);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

/** The last turn's id: whether it is still active, the server says. */
function activeTurnId({ sessionId, turn }: Session): string {
  if (turn !== undefined) return turn.turnId;
  throw new ForgeError(ErrorCode.CONFLICT, `session ${sessionId} has no active turn`, { reason: "TURN_NOT_ACTIVE", relatedIds: [sessionId] });
}

function onlyQuestion({ sessionId, turn }: Session): string {
  const open: readonly OpenCall[] = (turn?.openCalls ?? []).filter((call) => call.inputPending);
  const [only, ...others] = open;
  if (only === undefined) {
    throw new ForgeError(ErrorCode.CONFLICT, `session ${sessionId} asks nothing now`, { reason: "INPUT_NOT_REQUESTED", relatedIds: [sessionId] });
  }
  if (others.length === 0) return only.inputId;
  const listed = open.map((call) => `${call.inputId} (${call.question})`).join(", ");
  throw ForgeError.validation("input_id", `session ${sessionId} asks ${open.length} questions: name one with --input: ${listed}`);
}

function decisionOf(name: string): Decision {
  const decision = Decision[name.toUpperCase() as DecisionName] as Decision | undefined;
  if (decision === undefined) throw ForgeError.validation("policy.rules", `${name.slice(0, 80)} is no decision: write allow, ask or deny`);
  return decision;
}
