import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode, type ForgeError, ForgeErrorSchema } from "@forge/protocol/common";
import { CompactionReason, type Event } from "@forge/protocol/event";
import { addUsage } from "../../usage.ts";
import { activeTurn, type SessionState, type TurnState } from "../state.ts";

type CompactionPayload = Extract<Event["payload"], { case: "sessionCompactionRequested" | "sessionCompactionFailed" | "sessionCompacted" }>;

/** A summary that is asked for, made, or not made. Within a turn the events carry the turn's id. */
export function evolveCompaction(state: SessionState, event: Event, payload: CompactionPayload): SessionState {
  const turn = activeTurn(state);
  const own = turn !== undefined && event.turnId === turn.turnId ? turn : undefined;
  switch (payload.case) {
    case "sessionCompactionRequested": {
      const { compactionId, throughSeq, reason, instructions, model } = payload.value;
      const requestedAtMs = event.occurredAt === undefined ? 0 : timestampMs(event.occurredAt);
      const compacting = { compactionId, throughSeq: Number(throughSeq), reason, instructions, model, turnId: event.turnId, requestedAtMs };
      if (own === undefined) return { ...state, compacting };
      // The call that was refused as too long is made again once the summary stands.
      const failure = reason === CompactionReason.OVERFLOW ? undefined : own.failure;
      return { ...state, compacting, turn: { ...own, failure, compaction: { compactionId, isOwn: true } } };
    }
    case "sessionCompactionFailed": {
      if (state.compacting?.compactionId !== payload.value.compactionId) return state;
      const { reason } = state.compacting;
      const ended = withoutCompaction(state);
      if (own === undefined || ended.turn === undefined) return ended;
      return { ...ended, turn: afterFailure(ended.turn, reason, payload.value.error) };
    }
    case "sessionCompacted": {
      const { usage } = payload.value;
      const throughSeq = Number(payload.value.throughSeq);
      // The turn's own words are still told beside a summary that reaches into it.
      const keptAfterSeq = own === undefined ? throughSeq : Math.min(throughSeq, own.startedSeq - 1);
      const overflowed = state.compacting?.compactionId === payload.value.compactionId && state.compacting.reason === CompactionReason.OVERFLOW;
      const ended = withoutCompaction(state);
      const compacted = { ...ended, usage: addUsage(state.usage, usage), compaction: { seq: Number(event.seq), throughSeq, keptAfterSeq } };
      if (own === undefined || ended.turn === undefined) return compacted;
      const steps = { ...own.steps, overflowed: own.steps.overflowed || overflowed };
      return { ...compacted, turn: { ...ended.turn, steps, usage: addUsage(own.usage, usage) } };
    }
    default:
      return payload satisfies never;
  }
}

/** Nobody waits any more for the summary that was being written: it has come, it has failed, or it is no longer wanted. */
export function withoutCompaction(state: SessionState): SessionState {
  const { turn } = state;
  if (state.compacting === undefined) return state;
  return { ...state, compacting: undefined, turn: turn === undefined ? undefined : { ...turn, compaction: undefined } };
}

function afterFailure(turn: TurnState, reason: CompactionReason, cause: ForgeError | undefined): TurnState {
  if (reason === CompactionReason.OVERFLOW) return { ...turn, failure: contextOverflow(cause), steps: { ...turn.steps, overflowed: true } };
  return { ...turn, steps: { ...turn.steps, windowFailed: true } };
}

/** Ends a turn whose conversation the model's provider refuses as too long. */
export function contextOverflow(cause: ForgeError | undefined): ForgeError {
  const why = cause === undefined || cause.message === "" ? "" : ` (${cause.message})`;
  return create(ForgeErrorSchema, {
    code: ErrorCode.RESOURCE_EXHAUSTED,
    reason: CONTEXT_OVERFLOW,
    message: `The conversation does not fit into the model's context, and could not be made to fit by a summary${why}. Start a new session, say less at once, or use a model with a larger context.`,
    origin: "control-plane",
    relatedIds: cause?.relatedIds ?? [],
  });
}

/** The reason of a model call that its provider refused as too long. */
export const CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW";
