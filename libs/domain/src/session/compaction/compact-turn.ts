import { create } from "@bufbuild/protobuf";
import { type CompactionReason, SessionCompactionRequestedSchema } from "@forge/protocol/event";
import type { SessionRecorder } from "../session-command.ts";
import type { SessionState, TurnState } from "../state.ts";
import { isNearWindow } from "./context-use.ts";

/**
 * Up to where the conversation of a turn can be summarised between its steps: what the person said in this turn, and the last step with its calls and their
 * results, stay as they are. Undefined where nothing lies before that which is not summarised already.
 */
export function compactableThrough(state: SessionState, turn: TurnState): number | undefined {
  const { steps, startedSeq } = turn;
  const throughSeq = steps.isAnswered ? steps.lastSeq : steps.beforeSeq;
  const compactedSeq = state.compaction?.throughSeq ?? 0;
  if (throughSeq <= compactedSeq) return undefined;
  if (throughSeq >= startedSeq) return throughSeq;
  return (state.spans.at(-1)?.lastSeq ?? 0) > compactedSeq ? throughSeq : undefined;
}

/** Up to where the conversation is to be summarised before the next model call, because it comes near the model's window; undefined where it need not, or can't. */
export function wantedCompaction(state: SessionState, turn: TurnState): number | undefined {
  return turn.steps.windowFailed || !isNearWindow(state) ? undefined : compactableThrough(state, turn);
}

/** Asks the turn's model for a summary; the turn waits for it. */
export function compactTurn(recorder: SessionRecorder, turn: TurnState, reason: CompactionReason, throughSeq: number): false {
  const value = create(SessionCompactionRequestedSchema, {
    compactionId: recorder.context.newId(),
    throughSeq: BigInt(throughSeq),
    reason,
    model: turn.model,
  });
  recorder.record({ turnId: turn.turnId, payload: { case: "sessionCompactionRequested", value } });
  return false;
}
