import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { type UndoRefusal, UndoRefusalSchema } from "@forge/protocol/event";
import type { Change, FileChange } from "@forge/protocol/session";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import type { ChangePlan, PlannedFile } from "./change-plan.ts";
import { isUnchanged } from "./change-plan.ts";
import { type FileState, readFileState, sha256Of } from "./file-state.ts";

/** Of a file as it is now: one that is larger was not written by a tool. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

/** What an undo does, and what it leaves alone. */
export interface UndoPlan {
  readonly files: ChangePlan;
  /** Ids of changes. */
  readonly undone: readonly string[];
  readonly refused: readonly UndoRefusal[];
}

type GetArtifact = (sha256: string) => Promise<Uint8Array>;

/** A file on its way back: what is there, and what is to be there once the changes looked at so far are undone. */
interface UndoneFile {
  readonly present: FileState;
  sha256: string;
  mode: number;
  /** The change that put the content there which is to be there; undefined: it is there already. */
  restores: FileChange | undefined;
  /** Changes of it that were undone before. */
  readonly undoneBefore: ReadonlySet<FileChange>;
}

/**
 * Plans to take changes back, the newest first. A change is undone whole or not at all: not where a file is no longer as the change left it, since that is
 * somebody's later work, nor where it lies beneath a change that is refused. A file that is as it was before a change counts as undone.
 */
export async function planUndo(guard: WorkspaceGuard, changes: readonly Change[], getArtifact: GetArtifact): Promise<UndoPlan> {
  const files = new UndoneFiles(guard, changes);
  /** Paths with a change that is refused; what is older lies beneath it. */
  const blocked = new Set<string>();
  const undone: string[] = [];
  const refused: UndoRefusal[] = [];
  for (const change of changes) {
    const refusal = await refusalOf(change, files, blocked);
    if (refusal === undefined) {
      for (const file of change.files) takeBack((await files.at(file.path)) as UndoneFile, file);
      undone.push(change.changeId);
    } else {
      for (const { path } of change.files) blocked.add(path);
      refused.push(create(UndoRefusalSchema, { changeId: change.changeId, ...refusal }));
    }
  }
  const planned: PlannedFile[] = [];
  for (const file of files.all()) if (file.restores !== undefined) planned.push(await plannedFile(file, file.restores, getArtifact));
  return { files: planned.filter((one) => !isUnchanged(one)), undone, refused };
}

async function refusalOf({ files: changed }: Change, files: UndoneFiles, blocked: ReadonlySet<string>): Promise<{ path: string; reason: string } | undefined> {
  if (changed.length === 0) return { path: "", reason: "nothing of it can be undone" };
  for (const change of changed) {
    const { path } = change;
    const reason = blocked.has(path) ? "lies beneath a change that is not undone" : await obstacle(change, files);
    if (reason !== undefined) return { path, reason };
  }
  return undefined;
}

/** Why a file can't be taken back; undefined where it can. */
async function obstacle(change: FileChange, files: UndoneFiles): Promise<string | undefined> {
  const { path, notUndoable, beforeSha256, before, beforeMode, afterSha256, afterMode } = change;
  if (notUndoable !== "") return notUndoable;
  if (beforeSha256 !== "" && before === undefined) return "its content from before was not kept";
  const file = await files.at(path);
  if (typeof file === "string") return file;
  if (file.undoneBefore.has(change)) return undefined;
  if (file.sha256 !== afterSha256)
    return afterSha256 === "" ? "was made anew since" : file.sha256 === "" ? "was deleted since" : "was changed since by somebody else";
  // Somebody else's change of permissions is kept, unless the change to be undone is one itself.
  if (beforeSha256 !== "" && afterSha256 !== "" && beforeMode !== afterMode && file.mode !== afterMode) return "got other permissions since";
  return undefined;
}

/** The files that changes are of, as they are once the changes looked at so far are undone. */
class UndoneFiles {
  readonly #guard: WorkspaceGuard;
  readonly #changes = new Map<string, FileChange[]>();
  readonly #files = new Map<string, UndoneFile | string>();

  constructor(guard: WorkspaceGuard, changes: readonly Change[]) {
    this.#guard = guard;
    for (const { files } of changes) for (const file of files) this.#changes.set(file.path, [...(this.#changes.get(file.path) ?? []), file]);
  }

  /** The file, or why nothing can be said of it. */
  async at(path: string): Promise<UndoneFile | string> {
    let file = this.#files.get(path);
    if (file !== undefined) return file;
    const present = await presentState(this.#guard, path);
    file = typeof present === "string" ? present : undoneFile(present, this.#changes.get(path) ?? []);
    this.#files.set(path, file);
    return file;
  }

  all(): UndoneFile[] {
    return [...this.#files.values()].filter((file) => typeof file !== "string");
  }
}

/** Where the file is not as the newest change left it, and is as it was before one of those that follow from each other, it and the newer ones were undone before. */
function undoneFile(present: FileState, changes: readonly FileChange[]): UndoneFile {
  const [sha256, mode] = [present.file?.sha256 ?? "", present.file?.mode ?? 0];
  const isBefore = (change: FileChange) => change.beforeSha256 === sha256 && (!changesMode(change) || sha256 === "" || change.beforeMode === mode);
  let undone = 0;
  for (const [index, change] of changes.entries()) {
    if (index === 0 && change.afterSha256 === sha256 && !(change.beforeSha256 === sha256 && isBefore(change))) break;
    if (index > 0 && changes[index - 1]?.beforeSha256 !== change.afterSha256) break;
    if (!isBefore(change)) continue;
    undone = index + 1;
    break;
  }
  return { present, sha256, mode, restores: undefined, undoneBefore: new Set(changes.slice(0, undone)) };
}

function changesMode({ beforeMode, afterMode }: FileChange): boolean {
  return beforeMode !== afterMode;
}

async function presentState(guard: WorkspaceGuard, path: string): Promise<FileState | string> {
  try {
    if ((await guard.linkAt(path)) !== undefined) return "is a link by now";
    const state = await readFileState(guard, path, FILE_BYTES_MAX);
    return state.path === path ? state : "is reached through a link by now";
  } catch (error) {
    // What can't be read, is forbidden, or is no file any more can't be undone; the rest can.
    if (error instanceof ForgeError) return error.message;
    throw error;
  }
}

function takeBack(file: UndoneFile, change: FileChange): void {
  if (file.undoneBefore.has(change)) return;
  const { beforeSha256, beforeMode, afterSha256 } = change;
  file.sha256 = beforeSha256;
  if (beforeSha256 === "") file.mode = 0;
  else if (afterSha256 === "" || changesMode(change)) file.mode = beforeMode;
  file.restores = change;
}

async function plannedFile({ present, mode }: UndoneFile, { path, before, beforeSha256 }: FileChange, getArtifact: GetArtifact): Promise<PlannedFile> {
  if (beforeSha256 === "") return { before: present, after: undefined };
  if (present.file?.sha256 === beforeSha256) return { before: present, after: { bytes: present.file.bytes, mode } };
  const bytes = Buffer.from(await getArtifact(before?.sha256 ?? beforeSha256));
  if (sha256Of(bytes) !== beforeSha256) throw new Error(`the content of ${path} that was kept is another one`);
  return { before: present, after: { bytes, mode } };
}
