import { create } from "@bufbuild/protobuf";
import { type WorkspaceChangeRecorded, WorkspaceChangeRecordedSchema } from "@forge/protocol/event";
import { type FileChange, FileChangeSchema } from "@forge/protocol/session";
import type { Settlement } from "@forge/protocol/worker";
import type { Rejected } from "../decider.ts";
import { isVisibleAscii, shorten } from "../text.ts";
import { invalid } from "./rejections.ts";
import type { SessionRecorder } from "./session-command.ts";

const CHANGES_MAX = 64;
/** A transaction with more files than this is kept with the first of them and says so: the call has happened, so that it can't fail for what it changed. */
const FILES_MAX = 1_000;
const NOT_UNDOABLE_MAX = 32;
const NOTE_MAX = 256;
const PATH_MAX = 4_096;
const ID_MAX = 128;
const SHA256 = /^(?:[0-9a-f]{64})?$/;

/** What a task changed in the workspace, however it ended. */
function changesOf(outcome: Settlement["outcome"]): readonly WorkspaceChangeRecorded[] {
  switch (outcome.case) {
    case "tool":
    case "failure":
    case "cancelled":
      return outcome.value.changes;
    default:
      return [];
  }
}

/** The first thing wrong with what a worker says that it changed, with its field; undefined where it can be kept. */
export function changesProblem(outcome: Settlement["outcome"]): Rejected | undefined {
  const changes = changesOf(outcome);
  const field = `settlement.${outcome.case}.changes`;
  if (changes.length > CHANGES_MAX) return invalid(field, `One call tells at most ${CHANGES_MAX} changes.`);
  const ids = changes.flatMap(({ changeId }) => (changeId === "" ? [] : changeId));
  if (ids.some((id) => id.length > ID_MAX || !isVisibleAscii(id)) || new Set(ids).size !== ids.length) {
    return invalid(field, `A change's id has at most ${ID_MAX} visible ASCII characters and is used once.`);
  }
  const isWrong = ({ path, beforeSha256, afterSha256 }: FileChange) =>
    path === "" || path.length > PATH_MAX || !SHA256.test(beforeSha256) || !SHA256.test(afterSha256);
  if (changes.some(({ files }) => files.some(isWrong))) {
    return invalid(field, `A changed file has a path of at most ${PATH_MAX} characters, and SHA-256 digests in lower-case hexadecimal or none.`);
  }
  return undefined;
}

/** Puts on record what a call changed. A change without an id gets one. */
export function recordChanges(
  recorder: SessionRecorder,
  ids: { readonly turnId: string; readonly toolCallId: string },
  tool: string,
  outcome: Settlement["outcome"],
): void {
  for (const change of changesOf(outcome)) {
    if (change.files.length === 0 && change.notUndoable.length === 0) continue;
    const left = change.files.length - FILES_MAX;
    const notes = change.notUndoable.map((note) => shorten(note.toWellFormed(), NOTE_MAX));
    if (left > 0) notes.unshift(`${left} more files`);
    const value = create(WorkspaceChangeRecordedSchema, {
      changeId: change.changeId === "" ? recorder.context.newId() : change.changeId,
      files: change.files.slice(0, FILES_MAX).map(bounded),
      observed: change.observed,
      notUndoable: notes.slice(0, NOT_UNDOABLE_MAX),
      tool,
    });
    recorder.record({ ...ids, payload: { case: "workspaceChangeRecorded", value }, sensitive: true });
  }
}

function bounded(file: FileChange): FileChange {
  return create(FileChangeSchema, { ...file, path: file.path.toWellFormed(), notUndoable: shorten(file.notUndoable.toWellFormed(), NOTE_MAX) });
}
