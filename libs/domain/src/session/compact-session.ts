import { create } from "@bufbuild/protobuf";
import { SessionCompactedSchema } from "@forge/protocol/event";
import { type CompactSessionRequest, CompactSessionResponseSchema, SessionStatus } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { isStorable, utf8Length } from "../text.ts";
import { invalid, sessionClosed, sessionMissing, turnActive } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { activeTurn, type SessionState, SPANS_MAX } from "./state.ts";

const SUMMARY_BYTES_MAX = 65_536;

/** Refused while a turn is active, so that no model call ever reads a conversation that changes under it. */
export function compactSession(recorder: SessionRecorder, request: CompactSessionRequest): SessionResult | Rejected {
  const { state, context } = recorder;
  const { summary } = request;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (state.status === SessionStatus.CLOSED) return sessionClosed(context.streamId);
  const turn = activeTurn(state);
  if (turn !== undefined) return turnActive(context.streamId, turn.turnId);
  if (summary.trim() === "" || !isStorable(summary) || utf8Length(summary) > SUMMARY_BYTES_MAX) {
    return invalid("summary", "A summary says something in at most 64 KiB of text, without NUL and half surrogate pairs.");
  }
  const throughSeq = request.throughSeq === 0n ? recorder.seq : Number(request.throughSeq);
  if (throughSeq > recorder.seq) return invalid("through_seq", `The session ends at seq ${recorder.seq}.`);
  const wrong = cutProblem(state, throughSeq);
  if (wrong !== undefined) return invalid("through_seq", wrong);
  const value = create(SessionCompactedSchema, { summary, throughSeq: BigInt(throughSeq) });
  recorder.record({ payload: { case: "sessionCompacted", value }, sensitive: true });
  return create(CompactSessionResponseSchema);
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
