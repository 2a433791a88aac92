import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { type ForgeClient, readArtifact } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type Entry, EntryType, type Revision } from "@forge/protocol/workspace";
import { codeOf, fileError, quoted } from "./directory/file-error.ts";
import { inParentOf, type OpenDirectory, openRoot } from "./directory/open-directory.ts";
import { forEachParallel } from "./parallel.ts";
import type { Progress } from "./progress.ts";
import { readManifest } from "./read-manifest.ts";
import { stopIfAborted } from "./stop.ts";

export interface RestoreOptions {
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

/** Files that are written at once. */
const WRITING_MAX = 8;
/** Names that an error lists. */
const LISTED_MAX = 5;

/**
 * Makes a directory what a revision says, exactly. It must be empty or not exist yet. Everything is written and synced beside it, in `.forge-restore-<id>`, and takes its
 * place at the end in one step: a restore that was ended in the middle leaves the directory as it was, and at most that one, which may be removed.
 * Errors: not_found; conflict, DIRECTORY_NOT_EMPTY; validation; permission_denied; storage_error, ARTIFACT_DAMAGED; cancelled.
 */
export async function restoreRevision(
  client: Pick<ForgeClient, "artifact" | "workspace">,
  revisionId: string,
  emptyDirectory: string,
  options: RestoreOptions = {},
): Promise<Revision> {
  const target = resolve(emptyDirectory);
  const mode = await checkTarget(target);
  const { revision, entries } = await readManifest(client, revisionId, options.signal);
  const temporary = join(dirname(target), `.forge-restore-${randomUUID().slice(0, 8)}`);
  // Nobody else looks into it before it is what it is to be.
  await mkdir(temporary, { mode: 0o700 }).catch((error: unknown) => {
    throw fileError(error, dirname(target));
  });
  try {
    await fill(client, temporary, entries, options);
    await chmod(temporary, mode ?? 0o755);
    stopIfAborted(options.signal);
    await rename(temporary, target).catch((error: unknown) => {
      throw ["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(codeOf(error)) ? notEmpty(target, "something was put there meanwhile") : fileError(error, target);
    });
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
  await sync(dirname(target));
  return revision;
}

/** The mode of an empty directory that is there; undefined where nothing is. */
async function checkTarget(target: string): Promise<number | undefined> {
  if (basename(target) === "") throw notEmpty(target, "it is the root of the file system");
  try {
    const stat = await lstat(target);
    if (!stat.isDirectory()) throw notEmpty(target, `it is a ${stat.isSymbolicLink() ? "symbolic link" : "file"}`);
    const names = await readdir(target);
    if (names.length === 0) return stat.mode & 0o7777;
    const more = names.length > LISTED_MAX ? ` and ${names.length - LISTED_MAX} more` : "";
    throw notEmpty(target, `it holds ${names.sort().slice(0, LISTED_MAX).map(quoted).join(", ")}${more}`);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw fileError(error, target);
  }
}

async function fill(
  client: Pick<ForgeClient, "artifact">,
  temporary: string,
  entries: readonly Entry[],
  { onProgress, signal }: RestoreOptions,
): Promise<void> {
  await using root = await openRoot(temporary);
  const isOf = (type: EntryType) => entries.filter((entry) => entry.type === type);
  const directories = isOf(EntryType.DIRECTORY);
  for (const { path } of directories) await within(root, path, (parent, name) => mkdir(parent.at(name)));
  for (const { path, target } of isOf(EntryType.SYMLINK)) await within(root, path, (parent, name) => symlink(target, parent.at(name)));
  const files = isOf(EntryType.FILE);
  const totals = { filesTotal: files.length, bytesTotal: files.reduce((sum, { size }) => sum + Number(size), 0) };
  let [done, bytes] = [0, 0];
  await forEachParallel(files, WRITING_MAX, async (entry) => {
    stopIfAborted(signal);
    await within(root, entry.path, async (parent, name) => {
      await writeFile(
        client,
        parent.at(name),
        entry,
        (count) => {
          bytes += count;
          onProgress?.({ phase: "getting", files: done, bytes, ...totals });
        },
        signal,
      );
    });
    done++;
    onProgress?.({ phase: "getting", files: done, bytes, ...totals });
  });
  // Deepest first, so that a directory is durable before it is named.
  await forEachParallel(directories.toReversed(), WRITING_MAX, async ({ path }) => await within(root, path, (parent, name) => sync(parent.at(name))));
  await root.handle.sync();
}

async function writeFile(
  client: Pick<ForgeClient, "artifact">,
  path: string,
  { sha256, size, mode }: Entry,
  onBytes: (count: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode);
  try {
    let written = 0;
    for await (const piece of readArtifact(client, sha256, { signal })) {
      await handle.writeFile(piece);
      written += piece.length;
      onBytes(piece.length);
    }
    if (BigInt(written) !== size) {
      const message = `artifact ${sha256} has ${written} bytes, and the manifest says ${size}`;
      throw new ForgeError(ErrorCode.STORAGE_ERROR, message, { reason: "ARTIFACT_DAMAGED", retryable: false, origin: "client", relatedIds: [sha256] });
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Errors name the path in the directory. */
async function within(root: OpenDirectory, path: string, act: (parent: OpenDirectory, name: string) => Promise<unknown>): Promise<void> {
  try {
    await inParentOf(root, path, act);
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Makes the names in a directory durable. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function notEmpty(target: string, why: string): ForgeError {
  return new ForgeError(ErrorCode.CONFLICT, `${quoted(target)} is no empty directory: ${why}; name one that is empty, or that does not exist yet`, {
    reason: "DIRECTORY_NOT_EMPTY",
    origin: "client",
    metadata: { path: target },
  });
}
