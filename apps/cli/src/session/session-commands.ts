import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import {
  AbandonTurnResponseSchema,
  CloseSessionResponseSchema,
  CompactSessionResponseSchema,
  ContinueTurnResponseSchema,
  ForkSessionResponseSchema,
  type OpenCall,
  PauseTurnResponseSchema,
  ProvideInputResponseSchema,
  type Session,
  StartTurnResponseSchema,
  SteerTurnResponseSchema,
  UpdateSessionPolicyResponseSchema,
} from "@forge/protocol/session";
import { headerOf } from "../arguments/header-of.ts";
import type { Context } from "../context.ts";
import { inSession, type SessionOptions, type TurnOptions, turnIdOf } from "./in-session.ts";
import { type PolicyOptions, policyOf } from "./policy.ts";

export interface ForkOptions extends SessionOptions {
  readonly model?: string;
  readonly seq?: number;
  readonly title?: string;
  readonly label?: Readonly<Record<string, string>>;
}

/** `forge session start`: starts a turn, and leaves it. */
export function startCommand(context: Context, id: string, text: string, options: SessionOptions): Promise<number> {
  return inSession(context, id, options, async (link) => {
    const header = headerOf(options);
    const answer = await link.call((client) => client.session.startTurn({ header, sessionId: id, input: [textPart(text)] }));
    return { schema: StartTurnResponseSchema, answer, said: answer.turnId };
  });
}

/** `forge session steer`: tells the active turn more. */
export function steerCommand(context: Context, id: string, text: string, options: TurnOptions): Promise<number> {
  return inSession(context, id, options, async (link, readSession) => {
    const [turnId, header] = [await turnIdOf(readSession, options), headerOf(options)];
    const answer = await link.call((client) => client.session.steerTurn({ header, sessionId: id, turnId, input: [textPart(text)] }));
    return { schema: SteerTurnResponseSchema, answer, said: "Told." };
  });
}

/** `forge session pause`: holds the active turn before its next dispatch. */
export function pauseCommand(context: Context, id: string, options: TurnOptions): Promise<number> {
  return inSession(context, id, options, async (link, readSession) => {
    const [turnId, header] = [await turnIdOf(readSession, options), headerOf(options)];
    const answer = await link.call((client) => client.session.pauseTurn({ header, sessionId: id, turnId }));
    return { schema: PauseTurnResponseSchema, answer, said: "Paused. What runs, finishes." };
  });
}

/** `forge session continue`: lets a paused turn go on. */
export function continueCommand(context: Context, id: string, options: TurnOptions): Promise<number> {
  return inSession(context, id, options, async (link, readSession) => {
    const [turnId, header] = [await turnIdOf(readSession, options), headerOf(options)];
    const answer = await link.call((client) => client.session.continueTurn({ header, sessionId: id, turnId }));
    return { schema: ContinueTurnResponseSchema, answer, said: "The turn goes on." };
  });
}

/** `forge session answer`: answers the model's question. */
export function answerCommand(context: Context, id: string, text: string, options: TurnOptions & { readonly input?: string }): Promise<number> {
  return inSession(context, id, options, async (link, readSession) => {
    const [turnId, header] = [await turnIdOf(readSession, options), headerOf(options)];
    const inputId = options.input ?? onlyQuestion(await readSession());
    const answer = await link.call((client) => client.session.provideInput({ header, sessionId: id, turnId, inputId, text }));
    return { schema: ProvideInputResponseSchema, answer, said: "Answered." };
  });
}

/** `forge session policy`: replaces the tool policy. */
export function policyCommand(context: Context, id: string, options: SessionOptions & PolicyOptions & { readonly revokeGrants?: boolean }): Promise<number> {
  return inSession(context, id, options, async (link) => {
    const header = headerOf(options);
    const policy = policyOf(options);
    const request = { header, sessionId: id, policy, revokeGrants: options.revokeGrants === true };
    const answer = await link.call((client) => client.session.updateSessionPolicy(request));
    return { schema: UpdateSessionPolicyResponseSchema, answer, said: "The policy holds from the next call on." };
  });
}

export interface CompactOptions extends SessionOptions {
  readonly seq?: number;
  readonly instructions?: string;
}

/** `forge session compact`: lets a summary stand for the conversation, this one or one that the agent's model writes. */
export function compactCommand(context: Context, id: string, summary: string | undefined, options: CompactOptions): Promise<number> {
  return inSession(context, id, options, async (link) => {
    const header = headerOf(options);
    const request = { header, sessionId: id, summary: summary ?? "", throughSeq: BigInt(options.seq ?? 0), instructions: options.instructions ?? "" };
    const answer = await link.call((client) => client.session.compactSession(request));
    return {
      schema: CompactSessionResponseSchema,
      answer,
      said: summary === undefined ? "A summary is being written. The events stay." : "Compacted. The events stay.",
    };
  });
}

/** `forge session fork`: makes a session with this one's history. */
export function forkCommand(context: Context, id: string, options: ForkOptions): Promise<number> {
  return inSession(context, id, options, async (link) => {
    const header = headerOf(options);
    const request = {
      header,
      sessionId: id,
      throughSeq: BigInt(options.seq ?? 0),
      title: options.title ?? "",
      labels: { ...options.label },
      model: options.model ?? "",
    };
    const answer = await link.call((client) => client.session.forkSession(request));
    return { schema: ForkSessionResponseSchema, answer, said: answer.sessionId };
  });
}

/** `forge session close`: lets no more turns be started. */
export function closeCommand(context: Context, id: string, options: SessionOptions): Promise<number> {
  return inSession(context, id, options, async (link) => {
    const header = headerOf(options);
    const answer = await link.call((client) => client.session.closeSession({ header, sessionId: id }));
    return { schema: CloseSessionResponseSchema, answer, said: "Closed. The events stay." };
  });
}

/** `forge session abandon`: ends a turn of which nobody can say any more whether it has stopped. */
export function abandonCommand(context: Context, id: string, reason: string, options: TurnOptions): Promise<number> {
  return inSession(context, id, options, async (link, readSession) => {
    const [turnId, header] = [await turnIdOf(readSession, options), headerOf(options)];
    const answer = await link.call((client) => client.session.abandonTurn({ header, sessionId: id, turnId, reason }));
    return { schema: AbandonTurnResponseSchema, answer, said: "Abandoned. What was open is recorded as unknown." };
  });
}

function textPart(text: string) {
  return { kind: { case: "text" as const, value: { text } } };
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
