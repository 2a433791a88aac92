import { type BigIntStats, constants } from "node:fs";
import { copyFile, link, lstat, rename, rmdir, unlink } from "node:fs/promises";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { errorCode, fileError } from "../workspace/file-error.ts";
import { temporaryName } from "../workspace/temporary-name.ts";
import { splitPath, type WorkspaceDirectory, type WorkspaceGuard } from "../workspace/workspace-guard.ts";
import type { ChangeJournal, JournalEntry, OpenJournal } from "./change-journal.ts";
import type { ChangePlan, PlannedContent, PlannedFile } from "./change-plan.ts";
import { isSameContent, isSameStat, type PresentFile, readFileState, sha256Of } from "./file-state.ts";

/** Of a new file, before the umask. */
const NEW_FILE_MODE = 0o666;
const NEW_EXECUTABLE_MODE = 0o777;

/** A file that was changed, and the permission bits that it has now; of a deleted one 0. */
export interface AppliedFile {
  readonly planned: PlannedFile;
  readonly afterMode: number;
}

/** Thrown where a transaction failed and could not be taken back whole: these of its files are changed. */
export class PartlyApplied extends Error {
  override readonly name = "PartlyApplied";
  readonly applied: readonly AppliedFile[];
  override readonly cause: ForgeError;

  constructor(cause: ForgeError, applied: readonly AppliedFile[]) {
    super(cause.message);
    this.cause = cause;
    this.applied = applied;
  }
}

/**
 * Changes all files of a plan or none, each in one step: whoever reads sees the old or the new content, also after a crash. Directories are made where
 * missing; mode and owner of what is there are kept. What is no longer as the plan says is refused, and then nothing is done. Errors: conflict, FILE_CHANGED;
 * resource_exhausted, where the disk is full; those of the guard; PartlyApplied.
 */
export async function applyPlan(guard: WorkspaceGuard, journal: ChangeJournal, plan: ChangePlan, signal?: AbortSignal): Promise<AppliedFile[]> {
  const transaction = new Transaction(guard, journal);
  try {
    await transaction.stage(plan, signal);
    signal?.throwIfAborted();
    return await transaction.run();
  } finally {
    await transaction.end();
  }
}

/** One file on its way. */
interface Staged {
  readonly planned: PlannedFile;
  readonly parent: WorkspaceDirectory;
  readonly name: string;
  /** The mode is known once it is written. */
  readonly temporary: { readonly name: string; mode: number } | undefined;
  /** Made just before the file is replaced. */
  readonly backup: string | undefined;
}

class Transaction {
  readonly #guard: WorkspaceGuard;
  readonly #journal: ChangeJournal;
  readonly #parents = new Map<string, WorkspaceDirectory>();
  readonly #made: string[] = [];
  readonly #staged: Staged[] = [];
  #open: OpenJournal | undefined;
  #stands = false;

  constructor(guard: WorkspaceGuard, journal: ChangeJournal) {
    this.#guard = guard;
    this.#journal = journal;
  }

  /** Puts the new contents beside the files. */
  async stage(plan: ChangePlan, signal: AbortSignal | undefined): Promise<void> {
    for (const planned of plan) {
      const { path, file } = planned.before;
      const { directory, name } = splitPath(path);
      const parent = await this.#parent(directory);
      const temporary = planned.after === undefined ? undefined : { name: temporaryName(), mode: 0 };
      this.#staged.push({ planned, parent, name, temporary, backup: file === undefined ? undefined : temporaryName() });
    }
    this.#open = await this.#journal.begin(this.#entries());
    for (const { planned, parent, temporary } of this.#staged) {
      signal?.throwIfAborted();
      if (planned.after === undefined || temporary === undefined) continue;
      try {
        temporary.mode = await writeTemporary(this.#guard, parent.at(temporary.name), planned, planned.after);
      } catch (error) {
        throw fileError(error, planned.before.path);
      }
    }
  }

  /** Puts all files in their places. */
  async run(): Promise<AppliedFile[]> {
    const isMany = this.#staged.length > 1;
    if (isMany) await this.#open?.arm();
    const done: Staged[] = [];
    try {
      for (const staged of this.#staged) {
        await this.#exchange(staged, () => done.push(staged));
      }
      for (const parent of new Set(this.#parents.values())) await parent.sync();
      if (isMany) await this.#open?.commit();
      this.#stands = true;
    } catch (error) {
      await this.#takeBack(done, error);
    }
    return done.map(applied);
  }

  async end(): Promise<void> {
    // What is left over is tidied up at the next start, for which the journal stays.
    if (await this.#tidy()) await this.#open?.close().catch(() => undefined);
    for (const parent of this.#parents.values()) await parent[Symbol.asyncDispose]();
    if (this.#stands) return;
    // Only what is still empty goes: somebody may have begun to use it.
    for (const directory of this.#made.toReversed()) await rmdir(directory).catch(() => undefined);
  }

  async #parent(directory: string): Promise<WorkspaceDirectory> {
    const known = this.#parents.get(directory);
    if (known !== undefined) return known;
    await this.#noteMissing(directory);
    const opened = await this.#guard.openDirectory(directory, { create: true });
    this.#parents.set(directory, opened);
    // A link that stays in the workspace is followed, and would lead the change to where nobody said that it goes.
    if (this.#guard.relative(opened.realPath) !== directory) throw changed(directory, "is reached through a link by now");
    return opened;
  }

  /** Remembers which directories are about to be made. */
  async #noteMissing(directory: string): Promise<void> {
    const real = await this.#guard.resolve(directory);
    const missing: string[] = [];
    for (let path = real; path !== this.#guard.root; path = splitPath(path).directory) {
      if ((await lstat(path).catch(() => undefined)) !== undefined) break;
      missing.unshift(path);
    }
    this.#made.push(...missing);
  }

  async #exchange({ planned, parent, name, temporary, backup }: Staged, onDone: () => void): Promise<void> {
    const { path, file } = planned.before;
    const target = parent.at(name);
    try {
      if (file === undefined) {
        if (temporary === undefined) return;
        // Unlike a rename, a link does not take the place of what somebody has put there meanwhile.
        await link(parent.at(temporary.name), target).catch(async (error: unknown) => {
          if (errorCode(error) === "EEXIST") throw changed(path, "exists by now");
          if ((await lstat(target).catch(() => undefined)) !== undefined) throw changed(path, "exists by now");
          await rename(parent.at(temporary.name), target);
        });
        onDone();
        return;
      }
      const seen = await this.#requireSame(planned, file);
      const kept = parent.at(backup as string);
      let isLinked = true;
      await link(target, kept).catch((error: unknown) => {
        // Some file systems have no links, and some systems none to files of other owners.
        if (errorCode(error) === "ENOENT") throw error;
        isLinked = false;
        return copyFile(target, kept, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      });
      // Whoever saves by rename puts another file there, of which nothing is seen at the one that was kept.
      if (!isSameContent(await lstat(target, { bigint: true }), seen)) throw changed(path, "was changed meanwhile");
      if (temporary === undefined) await unlink(target);
      else await rename(parent.at(temporary.name), target);
      onDone();
      if (isLinked && !isSameContent(await lstat(kept, { bigint: true }), seen)) throw changed(path, "was changed meanwhile");
    } catch (error) {
      throw fileError(error, path);
    }
  }

  /** What is there, which has the content that the plan starts from. */
  async #requireSame({ before: { path } }: PlannedFile, file: PresentFile): Promise<BigIntStats> {
    const { directory, name } = splitPath(path);
    const present = await lstat((this.#parents.get(directory) as WorkspaceDirectory).at(name), { bigint: true }).catch((error: unknown) => {
      throw errorCode(error) === "ENOENT" ? changed(path, "is gone by now") : error;
    });
    if (isSameStat(present, file.stat)) return present;
    const now = await readFileState(this.#guard, path, Number(present.size) + 1);
    if (now.path !== path || now.file?.sha256 !== file.sha256 || now.file.mode !== file.mode) throw changed(path, "was changed meanwhile");
    return now.file.stat;
  }

  async #takeBack(done: readonly Staged[], error: unknown): Promise<never> {
    const left: AppliedFile[] = [];
    for (const staged of done.toReversed()) {
      const { parent, name, backup, planned } = staged;
      try {
        if (backup === undefined) await unlink(parent.at(name));
        else await rename(parent.at(backup), parent.at(name));
        await parent.sync();
      } catch {
        // What can't be restored is told as changed.
        left.unshift(applied(staged));
        this.#stands ||= planned.before.file === undefined;
      }
    }
    const cause = fileError(error, "the change");
    if (left.length === 0) throw cause;
    throw new PartlyApplied(
      new ForgeError(cause.code, `${cause.message}; what was done already could not be taken back: ${left.map((one) => one.planned.before.path).join(", ")}`, {
        reason: cause.reason,
        origin: "tool",
        cause,
      }),
      left,
    );
  }

  /** False where something could not be removed. */
  async #tidy(): Promise<boolean> {
    let isTidy = true;
    for (const { parent, temporary, backup } of this.#staged) {
      for (const name of [temporary?.name, backup]) {
        if (name === undefined) continue;
        await unlink(parent.at(name)).catch((error: unknown) => {
          isTidy &&= errorCode(error) === "ENOENT";
        });
      }
    }
    this.#staged.length = 0;
    return isTidy;
  }

  #entries(): JournalEntry[] {
    return this.#staged.map(({ planned, parent, name, temporary, backup }) => ({
      directory: this.#guard.relative(parent.realPath),
      name,
      staged: temporary === undefined ? undefined : { name: temporary.name, sha256: sha256Of(planned.after?.bytes ?? Buffer.alloc(0)) },
      backup,
    }));
  }
}

async function writeTemporary(guard: WorkspaceGuard, path: string, { before }: PlannedFile, after: PlannedContent): Promise<number> {
  const { file } = before;
  const mode = after.mode ?? file?.mode;
  const handle = await guard.openRegularFile(
    path,
    before.path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
    mode ?? (after.isExecutable === true ? NEW_EXECUTABLE_MODE : NEW_FILE_MODE),
  );
  try {
    const stat = await handle.stat({ bigint: true });
    if (file !== undefined && (stat.uid !== file.stat.uid || stat.gid !== file.stat.gid)) await handle.chown(Number(file.stat.uid), Number(file.stat.gid));
    await handle.writeFile(after.bytes);
    // Last, because a change of owner or content takes some of its bits; the umask is no reason to change the mode of a file that exists.
    if (mode !== undefined) await handle.chmod(mode);
    await handle.sync();
    const written = await handle.stat({ bigint: true });
    return Number(written.mode & 0o7777n);
  } finally {
    await handle.close();
  }
}

function applied({ planned, temporary }: Staged): AppliedFile {
  return { planned, afterMode: temporary?.mode ?? 0 };
}

function changed(path: string, what: string): ForgeError {
  return new ForgeError(ErrorCode.CONFLICT, `${path} ${what}; nothing was done`, { reason: "FILE_CHANGED", origin: "tool", metadata: { path } });
}
