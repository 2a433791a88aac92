import { create } from "@bufbuild/protobuf";
import { type Message, ReadConversationRequestSchema, type ReadConversationResponse, ReadConversationResponseSchema } from "@forge/protocol/session";
import type { ToolSpec } from "@forge/protocol/tool";
import type { ModelTask } from "@forge/protocol/worker";
import type { TaskContext } from "@forge/worker";
import { inlineArtifacts } from "./inline-artifacts.ts";

/** Sessions kept; the one that was used longest ago goes first. */
const SESSIONS_MAX = 256;
/** Messages of one session kept; a longer conversation is read anew each time. */
const MESSAGES_MAX = 5_000;

interface Kept {
  readonly throughSeq: bigint;
  readonly messages: readonly Message[];
  readonly turnId: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
}

/**
 * The conversations that this executor has read, artifacts inlined, so that each call reads only what was said since the last one. A model call is
 * requested only when no call is open, so a conversation up to there is final: what was read is never read again, unless the session was compacted since;
 * then the answer is the whole conversation and takes the place of what was kept. It is a cache: losing it costs a read.
 */
export class ConversationCache {
  readonly #kept = new Map<string, Kept>();

  async read(context: TaskContext, task: ModelTask): Promise<ReadConversationResponse> {
    const known = this.#usable(task);
    const { sessionId, turnId, conversationThroughSeq: throughSeq } = task;
    const request = create(ReadConversationRequestSchema, { sessionId, turnId, throughSeq, afterSeq: known?.throughSeq ?? 0n });
    const rest = await inlineArtifacts(await context.readConversation(request), (sha256) => context.getArtifact(sha256));
    const kept = rest.compactedSeq > 0n ? undefined : known;
    const sameTurn = kept?.turnId === turnId;
    const earlier = (kept?.messages ?? []).filter((message) => !message.ephemeral || message.turnId === turnId);
    const messages = [...earlier, ...rest.messages];
    const read: Kept = { throughSeq, messages, turnId, system: rest.system, tools: sameTurn ? kept.tools : rest.tools };
    this.#kept.delete(sessionId);
    if (messages.length <= MESSAGES_MAX) this.#kept.set(sessionId, read);
    if (this.#kept.size > SESSIONS_MAX) this.#kept.delete(this.#kept.keys().next().value as string);
    return create(ReadConversationResponseSchema, { messages, throughSeq, system: read.system, tools: [...read.tools] });
  }

  /** What lies beyond the asked seq can't be taken back out: then everything is read anew. */
  #usable(task: ModelTask): Kept | undefined {
    const kept = this.#kept.get(task.sessionId);
    return kept !== undefined && kept.throughSeq <= task.conversationThroughSeq ? kept : undefined;
  }
}
