import type { Event } from "@forge/protocol/event";
import type { SessionState } from "./state.ts";
import { unknownEvent } from "./unknown-event.ts";

type ChangePayload = Extract<
  Event["payload"],
  { case: "workspaceChangeRecorded" | "workspaceUndoRequested" | "workspaceChangeUndone" | "workspaceUndoFailed" | "sessionRewound" }
>;

/** Changes of files and what becomes of them: their count and the undo under way, never the changes themselves. */
export function evolveChanges(state: SessionState, event: Event, payload: ChangePayload, atMs: number): SessionState {
  const seq = Number(event.seq);
  switch (payload.case) {
    case "workspaceChangeRecorded":
      // One without files only tells of what nobody can undo.
      return { ...state, changeCount: state.changeCount + (payload.value.files.length > 0 ? 1 : 0), changesSeq: seq };
    case "workspaceUndoRequested": {
      if (state.undo !== undefined) throw unknownEvent(event, "an undo is under way already");
      const { undoId, changeIds, rewindThroughSeq } = payload.value;
      return { ...state, undo: { undoId, changeIds, rewindThroughSeq: Number(rewindThroughSeq), requestedAtMs: atMs } };
    }
    case "workspaceChangeUndone":
      return { ...state, undo: undefined, changeCount: Math.max(0, state.changeCount - payload.value.changeIds.length), changesSeq: seq };
    case "workspaceUndoFailed":
      return { ...state, undo: undefined };
    case "sessionRewound":
      return rewound(state, Number(payload.value.throughSeq));
    default:
      return payload satisfies never;
  }
}

/** What came after is no part of the conversation: neither a summary that was made then, nor turns that one could end at. */
function rewound(state: SessionState, throughSeq: number): SessionState {
  return {
    ...state,
    // Where an earlier summary holds again, whoever reads the conversation finds it among the events.
    compaction: state.compaction !== undefined && state.compaction.seq > throughSeq ? undefined : state.compaction,
    spans: state.spans.filter((span) => span.lastSeq <= throughSeq),
  };
}
