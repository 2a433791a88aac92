import type { ChangePlan, PlannedContent } from "../changes/change-plan.ts";
import { type FileState, readFileState } from "../changes/file-state.ts";
import { fileTooLarge } from "../workspace/file-error.ts";
import { FILE_BYTES_MAX } from "../workspace/read-text-file.ts";
import { decodeText, encodeText, type TextContent } from "../workspace/text-content.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { applyEdit, type Edit } from "./apply-edit.ts";
import { applyHunks } from "./apply-hunks.ts";
import type { FilePatch } from "./parse-unified-diff.ts";
import { patchError } from "./patch-error.ts";

/** Of all files of one patch together, before and after: their diff fits into an artifact, so that people can see all of it. */
const TOTAL_BYTES_MAX = 7 * 1024 * 1024;

const EXECUTE_BITS = 0o111;

/** An edit and the file that it is of. */
export interface FileEdit extends Edit {
  readonly path: string;
}

/** What a parsed unified diff changes. Errors: validation, PATCH_MISMATCH and the like, NOT_TEXT, FILE_TOO_LARGE; those of the guard. */
export async function planPatch(guard: WorkspaceGuard, patches: readonly FilePatch[]): Promise<ChangePlan> {
  const files = new PatchedFiles(guard);
  for (const patch of patches) await patchFile(files, patch);
  return files.plan();
}

/** What edits change, one after the other. An edit without a text to search for makes its file. Errors: as of planPatch. */
export async function planEdits(guard: WorkspaceGuard, edits: readonly FileEdit[]): Promise<ChangePlan> {
  const files = new PatchedFiles(guard);
  for (const [index, edit] of edits.entries()) {
    const file = await files.open(edit.path);
    const where = `${edit.path}: edit ${index + 1}`;
    if (edit.search === "") {
      if (file.isPresent) throw patchError("MISMATCH", where, "it has no text to search for, which makes a new file, and the file exists");
      file.create(encodeText(edit.replace, { encoding: "utf-8", hasMark: false }, edit.path), undefined);
      continue;
    }
    if (!file.isPresent) throw patchError("MISMATCH", where, "the file does not exist");
    file.edit((content) => applyEdit({ path: edit.path, ...content }, edit, index + 1));
  }
  return files.plan();
}

async function patchFile(files: PatchedFiles, { oldPath, newPath, hunks, isExecutable }: FilePatch): Promise<void> {
  const shown = (newPath ?? oldPath) as string;
  if (oldPath === undefined) {
    const file = await files.open(shown);
    if (file.isPresent) throw patchError("MISMATCH", shown, "it is to be made, and it exists");
    const text = applyHunks({ path: shown, text: "", encoding: "utf-8" }, hunks);
    file.create(encodeText(text, { encoding: "utf-8", hasMark: false }, shown), isExecutable);
    return;
  }
  const file = await files.open(oldPath);
  if (!file.isPresent) throw patchError("MISMATCH", oldPath, "it is to be changed, and it does not exist");
  if (newPath === undefined || newPath !== oldPath) await files.requireNoLink(oldPath);
  if (hunks.length > 0) file.edit((content) => applyHunks({ path: oldPath, ...content }, hunks));
  if (isExecutable !== undefined) file.setExecutable(isExecutable);
  if (newPath === undefined) {
    if (hunks.length > 0 && !file.isEmpty) throw patchError("MISMATCH", oldPath, "it is to be deleted, and the patch does not remove all of its lines");
    file.delete();
  } else if (newPath !== oldPath) {
    const target = await files.open(newPath);
    if (target.isPresent) throw patchError("MISMATCH", newPath, `${oldPath} is to be renamed to it, and it exists`);
    target.takeFrom(file);
  }
}

/** The files that a patch touches, as they are at some point of it. */
class PatchedFiles {
  readonly #guard: WorkspaceGuard;
  readonly #byRealPath = new Map<string, PatchedFile>();
  #bytes = 0;

  constructor(guard: WorkspaceGuard) {
    this.#guard = guard;
  }

  /** Two paths that lead to one file are one. */
  async open(path: string): Promise<PatchedFile> {
    const known = this.#byRealPath.get(this.#guard.relative(await this.#guard.resolve(path)));
    if (known !== undefined) return known;
    const state = await readFileState(this.#guard, path, FILE_BYTES_MAX);
    this.#bytes += state.file?.bytes.length ?? 0;
    this.#requireBound();
    const file = new PatchedFile(path, state);
    this.#byRealPath.set(state.path, file);
    return file;
  }

  async requireNoLink(path: string): Promise<void> {
    if ((await this.#guard.linkAt(path)) !== undefined) throw patchError("MISMATCH", path, "it is a link, which can't be deleted or renamed by a patch");
  }

  plan(): ChangePlan {
    const plan = [...this.#byRealPath.values()].map((file) => file.planned());
    for (const { after } of plan) this.#bytes += after?.bytes.length ?? 0;
    this.#requireBound();
    return plan;
  }

  #requireBound(): void {
    if (this.#bytes > TOTAL_BYTES_MAX) throw patchError("MALFORMED", "the patch", `its files have more than ${TOTAL_BYTES_MAX} bytes together`);
  }
}

class PatchedFile {
  readonly #shown: string;
  readonly #before: FileState;
  #after: PlannedContent | undefined;

  constructor(shown: string, before: FileState) {
    this.#shown = shown;
    this.#before = before;
    this.#after = before.file === undefined ? undefined : { bytes: before.file.bytes, mode: undefined };
  }

  get isPresent(): boolean {
    return this.#after !== undefined;
  }

  get isEmpty(): boolean {
    return this.#after?.bytes.length === 0;
  }

  create(bytes: Buffer, isExecutable: boolean | undefined): void {
    this.#set({ bytes, mode: undefined, isExecutable });
  }

  /** Keeps the encoding and the byte order mark. */
  edit(change: (content: Pick<TextContent, "text" | "encoding">) => string): void {
    const present = this.#present();
    const content = decodeText(present.bytes, this.#shown);
    this.#set({ ...present, bytes: encodeText(change(content), content, this.#shown) });
  }

  setExecutable(isExecutable: boolean): void {
    const present = this.#present();
    const mode = present.mode ?? this.#before.file?.mode;
    if (mode === undefined) this.#set({ ...present, isExecutable });
    // Whoever may read may execute.
    else this.#set({ ...present, mode: isExecutable ? mode | ((mode & 0o444) >> 2) : mode & ~EXECUTE_BITS });
  }

  delete(): void {
    this.#after = undefined;
  }

  takeFrom(source: PatchedFile): void {
    const present = source.#present();
    this.#set({ ...present, mode: present.mode ?? source.#before.file?.mode });
    source.delete();
  }

  planned(): { before: FileState; after: PlannedContent | undefined } {
    return { before: this.#before, after: this.#after };
  }

  #present(): PlannedContent {
    if (this.#after === undefined) throw patchError("MISMATCH", this.#shown, "it was deleted earlier in the patch");
    return this.#after;
  }

  #set(after: PlannedContent): void {
    if (after.bytes.length > FILE_BYTES_MAX) {
      throw fileTooLarge(this.#shown, `would have ${after.bytes.length} bytes, more than ${FILE_BYTES_MAX}`);
    }
    this.#after = after;
  }
}
