import { randomUUID } from "node:crypto";
import { lstat, mkdir, open, readdir, readFile, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { fileError } from "../workspace/file-error.ts";
import { isTemporaryName } from "../workspace/temporary-name.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { sha256Of } from "./file-state.ts";
import { FOREIGN_AGE_MS, isGone, type Owner, thisProcess } from "./process-owner.ts";

/** One file of a transaction, as it can be taken back by whoever finds the journal. */
export interface JournalEntry {
  /** Relative to the workspace. */
  readonly directory: string;
  readonly name: string;
  /** Holds the new content until it is in its place; absent for a deletion. */
  readonly staged?: { readonly name: string; readonly sha256: string };
  /** Holds what was there; absent for a creation. */
  readonly backup?: string;
}

interface Journal {
  readonly version: 1;
  readonly owner: Owner;
  readonly entries: readonly JournalEntry[];
}

const UNDER_WAY = ".journal";
/** Nothing is to be taken back; what it names is to be removed. */
const TIDIED = ".leftovers";

/** A larger file is none that a transaction wrote. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

/** A journal that was begun. */
export interface OpenJournal {
  /** From here on the transaction is under way: found without its end it is taken back. Durable when it resolves. */
  arm(): Promise<void>;
  /** From here on the transaction stands, whatever happens. */
  commit(): Promise<void>;
  /** Everything that it names is tidied up. */
  close(): Promise<void>;
}

/** Notes what a transaction is about to do, so that after a crash in the middle it is taken back: all of its files are new, or none is. */
export class ChangeJournal {
  readonly #directory: string;

  /** The directory is made when it is needed. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Names what is about to be put beside files, so that it is found and removed if nobody comes back to it. That is all that a change of a single file needs,
   * which is old or new by itself.
   */
  async begin(entries: readonly JournalEntry[]): Promise<OpenJournal> {
    const base = join(this.#directory, randomUUID());
    const [underWay, tidied] = [`${base}${UNDER_WAY}`, `${base}${TIDIED}`];
    await this.#write(tidied, entries, false);
    let path = tidied;
    return {
      arm: async () => {
        await this.#write(underWay, entries, true);
        path = underWay;
        await unlink(tidied);
      },
      commit: async () => {
        await rename(path, tidied);
        path = tidied;
        await syncDirectory(this.#directory);
      },
      close: () => unlink(path),
    };
  }

  async #write(path: string, entries: readonly JournalEntry[], isDurable: boolean): Promise<void> {
    const journal: Journal = { version: 1, owner: thisProcess(), entries };
    try {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await writeWhole(path, JSON.stringify(journal), isDurable);
      if (isDurable) await syncDirectory(this.#directory);
    } catch (error) {
      throw fileError(error, "the journal of changes");
    }
  }

  /** Takes back, or tidies up after, what a process that is gone left in the middle. */
  async recover(guard: WorkspaceGuard): Promise<void> {
    const names = await readdir(this.#directory).catch(() => []);
    for (const name of names) {
      const isDone = name.endsWith(TIDIED);
      if (!isDone && !name.endsWith(UNDER_WAY)) continue;
      const path = join(this.#directory, name);
      const journal = await readJournal(path);
      if (journal !== undefined && (await mayBeRunning(journal.owner, path))) continue;
      // What can't be read was never durable, so nothing of it was done.
      try {
        for (const entry of (journal?.entries ?? []).toReversed()) await settle(guard, entry, isDone);
        await unlink(path);
      } catch {
        // The file system refuses it today; the journal stays for the next start, and whoever changes files here meanwhile is told by it himself.
      }
    }
  }
}

async function settle(guard: WorkspaceGuard, { directory, name, staged, backup }: JournalEntry, isDone: boolean): Promise<void> {
  // The journal is data: it names only what a transaction may name.
  if ((staged !== undefined && !isTemporaryName(staged.name)) || (backup !== undefined && !isTemporaryName(backup))) return;
  let parent: Awaited<ReturnType<WorkspaceGuard["openDirectory"]>>;
  try {
    parent = await guard.openDirectory(directory, { create: false });
  } catch {
    // The directory is gone, or is not the one that it was: there is nothing of the transaction in it.
    return;
  }
  try {
    if (!isDone) await takeBack((child) => parent.at(child), { name, staged, backup });
    for (const leftover of [staged?.name, backup]) if (leftover !== undefined) await unlink(parent.at(leftover)).catch(() => undefined);
    await parent.sync();
  } finally {
    await parent[Symbol.asyncDispose]();
  }
}

async function takeBack(at: (name: string) => string, { name, staged, backup }: Pick<JournalEntry, "name" | "staged" | "backup">): Promise<void> {
  const present = await contentAt(at(name));
  if (backup === undefined) {
    if (present !== undefined && present === staged?.sha256) await unlink(at(name));
    return;
  }
  // Something else in its place is somebody's later work, which stays; an inode would not tell, since it is used again.
  const isOurs = present === staged?.sha256;
  if (isOurs && (await contentAt(at(backup))) !== undefined) await rename(at(backup), at(name));
}

/** What distinguishes what is there; undefined: nothing. */
async function contentAt(path: string): Promise<string | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined) return undefined;
  return stat.isFile() && stat.size <= FILE_BYTES_MAX ? sha256Of(await readFile(path)) : "something else";
}

async function readJournal(path: string): Promise<Journal | undefined> {
  try {
    const journal = JSON.parse(await readFile(path, "utf8")) as Journal;
    return journal.version === 1 && Array.isArray(journal.entries) ? journal : undefined;
  } catch {
    return undefined;
  }
}

async function mayBeRunning(owner: Owner, path: string): Promise<boolean> {
  if (owner.host === thisProcess().host) return !isGone(owner);
  return Date.now() - ((await lstat(path).catch(() => undefined))?.mtimeMs ?? 0) < FOREIGN_AGE_MS;
}

/** Under its name only when it is whole: another process that looks for what was left must not take a piece for all of it. */
async function writeWhole(path: string, text: string, isDurable: boolean): Promise<void> {
  const handle = await open(`${path}.new`, "wx", 0o600);
  try {
    await handle.writeFile(text);
    if (isDurable) await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${path}.new`, path);
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
