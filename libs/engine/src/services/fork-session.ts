import { toBinary } from "@bufbuild/protobuf";
import { type ForkFrom, foldConversation, type SessionState } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { ForkChildSession } from "@forge/protocol/engine";
import { type ForkSessionRequest, type Message, MessageSchema } from "@forge/protocol/session";
import type { Store } from "../ports/index.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { conversationEvents } from "./session-history.ts";

/** A fork's messages are one append. This many are written in well under a second; whoever has more compacts first. */
const MESSAGES_MAX = 5_000;
const BYTES_MAX = 16 * 1024 * 1024;

/**
 * What a fork is to begin with: the source's conversation up to a seq, and its agent, queue and present policy: a person who tightened it did not mean that
 * the past is free of it. Rejects with validation, or resource_exhausted, FORK_TOO_LARGE.
 */
export async function readFork(
  store: Store,
  namespace: string,
  source: { readonly state: SessionState; readonly seq: number },
  request: ForkSessionRequest,
): Promise<ForkFrom> {
  const { state, seq } = source;
  const throughSeq = request.throughSeq === 0n ? seq : Number(request.throughSeq);
  if (throughSeq > seq) throw ForgeError.validation("through_seq", `through_seq is ${throughSeq}, and session ${state.sessionId} ends at ${seq}`);
  const messages = await readMessages(store, namespace, state, throughSeq);
  return {
    $typeName: "session.fork_from",
    sourceSessionId: state.sessionId,
    throughSeq,
    agent: state.agent === undefined || request.model === "" ? state.agent : { ...state.agent, model: request.model },
    policy: state.policy,
    queue: state.queue,
    title: request.title === "" ? state.title : request.title,
    labels: Object.keys(request.labels).length === 0 ? state.labels : request.labels,
    messages,
  };
}

/** What a sub-agent's session begins with: its caller's conversation up to the call, and all else as the caller asks for it. */
export async function readChildFork(
  store: Store,
  engine: Pick<StreamEngine, "read">,
  namespace: string,
  sourceSessionId: string,
  { create: request, throughSeq }: ForkChildSession,
): Promise<ForkFrom> {
  const entry = await engine.read(namespace, sourceSessionId, "session");
  if (entry === undefined || request === undefined) {
    throw new ForgeError(ErrorCode.NOT_FOUND, `session ${sourceSessionId} does not exist`, { relatedIds: [sourceSessionId] });
  }
  const { agent, policy, queue, title, labels, parentCall } = request;
  const messages = await readMessages(store, namespace, entry.state as SessionState, Number(throughSeq));
  return { $typeName: "session.fork_from", sourceSessionId, throughSeq: Number(throughSeq), agent, policy, queue, title, labels, parentCall, messages };
}

/** Rejects with resource_exhausted, FORK_TOO_LARGE. */
async function readMessages(store: Store, namespace: string, state: SessionState, throughSeq: number): Promise<Message[]> {
  const { events } = await conversationEvents(store, namespace, state, { afterSeq: 0, throughSeq });
  const messages = foldConversation(events, { fork: true });
  const bytes = messages.reduce((sum, message) => sum + toBinary(MessageSchema, message).byteLength, 0);
  if (messages.length > MESSAGES_MAX || bytes > BYTES_MAX) {
    throw new ForgeError(
      ErrorCode.RESOURCE_EXHAUSTED,
      `session ${state.sessionId} has ${messages.length} messages of ${bytes} bytes up to seq ${throughSeq}, and a fork begins with at most ${MESSAGES_MAX} of ${BYTES_MAX} bytes: compact it first, or fork at an earlier seq`,
      { reason: "FORK_TOO_LARGE", retryable: false, relatedIds: [state.sessionId] },
    );
  }
  return messages;
}
