import { create } from "@bufbuild/protobuf";
import { CompactionReason, SessionCompactedSchema, SessionCompactionRequestedSchema } from "@forge/protocol/event";
import { type CompactSessionRequest, CompactSessionResponseSchema, SessionStatus } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { isStorable } from "../text.ts";
import { summaryProblem } from "./compaction/settle-compaction.ts";
import { invalid, sessionBusy, sessionClosed, sessionMissing, turnActive } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { activeTurn, type SessionState, SPANS_MAX } from "./state.ts";

const INSTRUCTIONS_MAX = 4_096;

/**
 * A summary stands for the conversation: the caller's at once, or one that the agent's model writes first. Refused while a turn is active, so that no model
 * call ever reads a conversation that changes under it.
 */
export function compactSession(recorder: SessionRecorder, request: CompactSessionRequest): SessionResult | Rejected {
  const { state, context } = recorder;
  const { summary } = request;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (state.status === SessionStatus.CLOSED) return sessionClosed(context.streamId);
  const turn = activeTurn(state);
  if (turn !== undefined) return turnActive(context.streamId, turn.turnId);
  const isWritten = summary !== "";
  const busy = isWritten && state.undo === undefined ? undefined : sessionBusy(state);
  if (busy !== undefined) return busy;
  const unusable = isWritten ? summaryProblem(summary) : undefined;
  if (unusable !== undefined) return invalid("summary", unusable);
  if (request.instructions.length > INSTRUCTIONS_MAX || !isStorable(request.instructions)) {
    return invalid("instructions", `Instructions have at most ${INSTRUCTIONS_MAX} characters without NUL.`);
  }
  const throughSeq = request.throughSeq === 0n ? recorder.seq : Number(request.throughSeq);
  if (throughSeq > recorder.seq) return invalid("through_seq", `The session ends at seq ${recorder.seq}.`);
  const wrong = cutProblem(state, throughSeq);
  if (wrong !== undefined) return invalid("through_seq", wrong);
  if (!isWritten) return requestSummary(recorder, request, throughSeq);
  const value = create(SessionCompactedSchema, { summary, throughSeq: BigInt(throughSeq) });
  recorder.record({ payload: { case: "sessionCompacted", value }, sensitive: true });
  return create(CompactSessionResponseSchema);
}

/** The model of the agent is asked; the next turn may begin, and its first model call waits for the summary. */
function requestSummary(recorder: SessionRecorder, { instructions }: CompactSessionRequest, throughSeq: number): SessionResult | Rejected {
  const { state, context } = recorder;
  const compacted = state.compaction?.throughSeq ?? 0;
  const hasMore = state.spans.some(({ firstSeq, lastSeq }) => lastSeq > compacted && firstSeq <= throughSeq);
  if (!hasMore) return invalid("through_seq", "Nothing was said up to there that is not summarised already.");
  const compactionId = context.newId();
  const value = create(SessionCompactionRequestedSchema, {
    compactionId,
    throughSeq: BigInt(throughSeq),
    reason: CompactionReason.REQUESTED,
    instructions,
    model: state.agent?.model ?? "",
  });
  recorder.record({ payload: { case: "sessionCompactionRequested", value }, sensitive: instructions !== "" });
  return create(CompactSessionResponseSchema, { compactionId });
}

/** Why a summary can't end at a seq: what it leaves has to be a conversation, so it takes a turn whole or not at all. Undefined where it can. */
function cutProblem(state: SessionState, throughSeq: number): string | undefined {
  if (throughSeq < (state.compaction?.throughSeq ?? 0)) return `The session is compacted up to seq ${state.compaction?.throughSeq} already.`;
  const cut = state.spans.find((span) => throughSeq >= span.firstSeq && throughSeq < span.lastSeq);
  if (cut !== undefined)
    return `Seq ${throughSeq} lies within seqs ${cut.firstSeq} to ${cut.lastSeq}, which belong together. Take one of them whole or not at all.`;
  const [oldest] = state.spans;
  if (state.spans.length < SPANS_MAX || oldest === undefined || throughSeq >= oldest.firstSeq - 1) return undefined;
  return `Seq ${throughSeq} lies before the last ${SPANS_MAX} turns. Compact up to seq ${oldest.firstSeq - 1} or more.`;
}
