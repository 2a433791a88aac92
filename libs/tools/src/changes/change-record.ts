import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { uuidV7 } from "@forge/protocol";
import type { ArtifactRef } from "@forge/protocol/common";
import { type WorkspaceChangeRecorded, WorkspaceChangeRecordedSchema } from "@forge/protocol/event";
import { type FileChange, FileChangeSchema } from "@forge/protocol/session";
import type { AppliedFile } from "./apply-plan.ts";
import type { ChangePlan, PlannedFile } from "./change-plan.ts";
import { FileDiffs } from "./file-diff.ts";
import { sha256Of } from "./file-state.ts";

/** Keeps a content under its hash. */
export type PutArtifact = (content: Uint8Array, mediaType: string) => Promise<ArtifactRef>;

/** Uploads at once. */
const UPLOADS_MAX = 4;

/**
 * What a plan is going to change, by path, with both contents kept: before it is carried out, so that nothing is changed that could not be undone. The modes
 * after it are not known yet.
 */
export async function keepContents(plan: ChangePlan, put: PutArtifact): Promise<Map<string, FileChange>> {
  const changes = new Map<string, FileChange>();
  const diffs = new FileDiffs();
  for (let index = 0; index < plan.length; index += UPLOADS_MAX) {
    const kept = await Promise.all(plan.slice(index, index + UPLOADS_MAX).map((planned) => keptChange(planned, diffs, put)));
    for (const change of kept) changes.set(change.path, change);
  }
  return changes;
}

/** The record of what was changed. */
export function recordOf(applied: readonly AppliedFile[], changes: ReadonlyMap<string, FileChange>): WorkspaceChangeRecorded {
  const files = applied.flatMap(({ planned, afterMode }) => {
    const change = changes.get(planned.before.path);
    return change === undefined ? [] : [create(FileChangeSchema, { ...change, afterMode })];
  });
  return create(WorkspaceChangeRecordedSchema, { changeId: newChangeId(), files });
}

export function newChangeId(): string {
  return uuidV7(Date.now(), randomBytes(10));
}

/** A content in the artifact store; undefined where there is none. */
export async function keepContent(bytes: Uint8Array | undefined, put: PutArtifact): Promise<ArtifactRef | undefined> {
  if (bytes === undefined) return undefined;
  return put(bytes, isUtf8(bytes) && !bytes.includes(0) ? "text/plain" : "application/octet-stream");
}

async function keptChange({ before: { path, file }, after }: PlannedFile, diffs: FileDiffs, put: PutArtifact): Promise<FileChange> {
  const { added, removed } = diffs.of(path, file?.bytes, after?.bytes);
  return create(FileChangeSchema, {
    path,
    beforeSha256: file?.sha256 ?? "",
    afterSha256: after === undefined ? "" : sha256Of(after.bytes),
    before: await keepContent(file?.bytes, put),
    after: await keepContent(after?.bytes, put),
    beforeMode: file?.mode ?? 0,
    addedLines: added,
    removedLines: removed,
  });
}
