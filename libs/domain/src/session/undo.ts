import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, ForgeErrorSchema } from "@forge/protocol/common";
import {
  SessionRewoundSchema,
  type UndoRefusal,
  UndoRefusalSchema,
  WorkspaceChangeUndoneSchema,
  WorkspaceUndoFailedSchema,
  WorkspaceUndoRequestedSchema,
} from "@forge/protocol/event";
import { RewindSessionResponseSchema, SessionStatus, UndoChangesResponseSchema } from "@forge/protocol/session";
import type { UndoResult } from "@forge/protocol/worker";
import type { Rejected } from "../decider.ts";
import type { TaskCommand } from "../task.ts";
import { shorten } from "../text.ts";
import { boundedError } from "./bounded-error.ts";
import { undoTaskKey, undoTimerKey } from "./keys.ts";
import { conflict, invalid, sessionBusy, sessionClosed, sessionMissing, turnActive } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { activeTurn, type SessionState, SPANS_MAX, type UndoState } from "./state.ts";
import type { RewindTo, UndoThese } from "./undo-command.ts";

const CHANGES_MAX = 1_000;
const PATH_MAX = 4_096;
const REASON_MAX = 256;

/** Takes back changes of files: a worker does it, and nothing else goes on in the session meanwhile. */
export function undoChanges(recorder: SessionRecorder, command: UndoThese): SessionResult | Rejected {
  const wrong = notNow(recorder) ?? changedSince(recorder, command.readSeq);
  if (wrong !== undefined) return wrong;
  const { changeIds } = command;
  if (changeIds.length > CHANGES_MAX) return invalid("change_ids", `At most ${CHANGES_MAX} changes are undone at once.`);
  if (changeIds.length === 0) return conflict("NOTHING_TO_UNDO", `No change of session ${recorder.context.streamId} stands that was meant.`, []);
  return create(UndoChangesResponseSchema, { undoId: requestUndo(recorder, changeIds, 0) });
}

/** Goes back to where the session stood: at once where no files are to be taken back, else once all of them are. */
export function rewindSession(recorder: SessionRecorder, command: RewindTo): SessionResult | Rejected {
  const wrong = notNow(recorder);
  if (wrong !== undefined) return wrong;
  const { throughSeq, changeIds } = command;
  const problem = cutProblem(recorder.state, throughSeq, recorder.seq);
  if (problem !== undefined) return invalid("through_seq", problem);
  if (changeIds.length > CHANGES_MAX) {
    return invalid("through_seq", `More than ${CHANGES_MAX} changes of files came after seq ${throughSeq}. Undo some first, or keep the files.`);
  }
  if (changeIds.length === 0) {
    recorder.record({ payload: { case: "sessionRewound", value: create(SessionRewoundSchema, { throughSeq: BigInt(throughSeq) }) } });
    return create(RewindSessionResponseSchema);
  }
  return changedSince(recorder, command.readSeq) ?? create(RewindSessionResponseSchema, { undoId: requestUndo(recorder, changeIds, throughSeq) });
}

function requestUndo(recorder: SessionRecorder, changeIds: readonly string[], rewindThroughSeq: number): string {
  const undoId = recorder.context.newId();
  const value = create(WorkspaceUndoRequestedSchema, { undoId, changeIds: [...changeIds], rewindThroughSeq: BigInt(rewindThroughSeq) });
  recorder.record({ payload: { case: "workspaceUndoRequested", value } });
  return undoId;
}

function notNow({ state, context }: SessionRecorder): Rejected | undefined {
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (state.status === SessionStatus.CLOSED) return sessionClosed(context.streamId);
  const turn = activeTurn(state);
  return turn === undefined ? sessionBusy(state) : turnActive(context.streamId, turn.turnId);
}

/** What was read no longer holds: a late report or another undo came between. */
function changedSince({ state }: SessionRecorder, readSeq: number): Rejected | undefined {
  if (state.changesSeq <= readSeq) return undefined;
  return conflict("SESSION_BUSY", `Changes of files came or went in session ${state.sessionId} meanwhile. Ask again.`, [state.sessionId]);
}

/** Why the conversation can't end at a seq; undefined where it can. */
function cutProblem(state: SessionState, throughSeq: number, seq: number): string | undefined {
  if (throughSeq < 1 || throughSeq > seq) return `A session is rewound to one of its seqs, here 1 to ${seq}.`;
  const cut = state.spans.find((span) => throughSeq >= span.firstSeq && throughSeq < span.lastSeq);
  if (cut !== undefined) return `Seq ${throughSeq} lies within seqs ${cut.firstSeq} to ${cut.lastSeq}, which belong together.`;
  const [oldest] = state.spans;
  if (state.spans.length < SPANS_MAX || oldest === undefined || throughSeq >= oldest.firstSeq - 1) return undefined;
  return `Seq ${throughSeq} lies before the last ${SPANS_MAX} turns. Rewind to seq ${oldest.firstSeq - 1} or later, or fork the session.`;
}

/** Whether a key is that of the undo's task or timer. */
export function isOfUndo(undo: UndoState, key: string): boolean {
  return key === undoTaskKey(undo.undoId) || key === undoTimerKey(undo.undoId);
}

/** What became of the undo. Hashes of files are checked before each is written, so that doing it twice has the effect of once: it needs no start. */
export function applyUndoCommand(recorder: SessionRecorder, undo: UndoState, command: TaskCommand): Rejected | undefined {
  switch (command.$typeName) {
    case "task.started":
      return conflict("TASK_STARTED", `Task ${command.key} begins without a start.`, [], { key: command.key });
    case "task.settled": {
      const { outcome } = command;
      if (outcome.case === "undo") settle(recorder, undo, outcome.value);
      else if (outcome.case === "failure") fail(recorder, undo, boundedError(outcome.value.error));
      else if (outcome.case === "cancelled") fail(recorder, undo, undoError(undo, ErrorCode.CANCELLED, "UNDO_FAILED", "The worker gave the undo up."));
      else return invalid("settlement", "An undo is settled by its result, a failure or a cancellation.");
      return undefined;
    }
    case "task.lost":
      fail(
        recorder,
        undo,
        undoError(undo, ErrorCode.WORKER_LOST, "WORKER_LOST", "Workers were lost during the undo; ask for it again to go on where it stands."),
      );
      return undefined;
    case "timer.fired":
      fail(recorder, undo, undoError(undo, ErrorCode.DEADLINE_EXCEEDED, "UNDO_TIMEOUT", "No worker has undone the changes in time."));
      return undefined;
    case "task.reported_late":
      return conflict("TASK_NOT_OPEN", `Task ${command.key} is an undo, of which late answers are not recorded.`, [], { key: command.key });
    default:
      return command satisfies never;
  }
}

function settle(recorder: SessionRecorder, undo: UndoState, result: UndoResult): void {
  const asked = new Set(undo.changeIds);
  const changeIds = [...new Set(result.changeIds)].filter((id) => asked.has(id));
  const refused = result.refused.slice(0, CHANGES_MAX).map(boundedRefusal);
  recorder.record({
    payload: { case: "workspaceChangeUndone", value: create(WorkspaceChangeUndoneSchema, { undoId: undo.undoId, changeIds, refused }) },
    sensitive: true,
  });
  // A conversation that says less than the files hold would be worse than none of it.
  if (undo.rewindThroughSeq === 0 || changeIds.length < undo.changeIds.length) return;
  const value = create(SessionRewoundSchema, { throughSeq: BigInt(undo.rewindThroughSeq), undoId: undo.undoId });
  recorder.record({ payload: { case: "sessionRewound", value } });
}

function boundedRefusal({ changeId, path, reason }: UndoRefusal): UndoRefusal {
  const text = (value: string, max: number) => shorten(value.toWellFormed(), max);
  return create(UndoRefusalSchema, { changeId: text(changeId, 128), path: text(path, PATH_MAX), reason: text(reason, REASON_MAX) });
}

function fail(recorder: SessionRecorder, undo: UndoState, error: ForgeError): void {
  const value = create(WorkspaceUndoFailedSchema, { undoId: undo.undoId, error });
  recorder.record({ payload: { case: "workspaceUndoFailed", value }, sensitive: true });
}

function undoError(undo: UndoState, code: ErrorCode, reason: string, message: string): ForgeError {
  return create(ForgeErrorSchema, { code, reason, message, origin: "control-plane", relatedIds: [undo.undoId] });
}
