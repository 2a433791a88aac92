import { lstat, mkdir, mkdtemp, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { bundleError } from "./bundle-error.ts";
import type { BundleLimits } from "./limits.ts";
import { readBundle } from "./read-bundle.ts";
import { type UndoStep, undoAll } from "./undo-steps.ts";

/** The reason of an error after which not everything is as it was. */
const NOT_UNDONE = "IMPORT_NOT_UNDONE";

export interface UnpackOptions {
  /** Whether files that are there already are replaced. */
  readonly replaces: boolean;
  readonly limits?: BundleLimits;
}

/**
 * Unpacks a bundle into a directory, made where it is missing. All of it is unpacked beside the directory first, so that an archive with anything wrong leaves
 * nothing; then files are moved to their places, and back where one can't be. What else is in the directory stays. Errors: validation, BUNDLE_INVALID;
 * resource_exhausted, BUNDLE_TOO_LARGE; conflict, FILE_EXISTS; internal, IMPORT_NOT_UNDONE, where something can't be moved back either: the error names the directory
 * in which the files that were replaced then lie.
 */
export async function unpackBundle(
  archive: AsyncIterable<Uint8Array>,
  root: string,
  { replaces, limits }: UnpackOptions,
): Promise<{ readonly files: string[] }> {
  await mkdir(path.dirname(root), { recursive: true });
  // Beside the target, so that moving is renaming.
  const staging = await mkdtemp(path.join(path.dirname(root), `.${path.basename(root)}.import-`));
  let isKept = false;
  try {
    const files: string[] = [];
    await readBundle(
      archive,
      async ({ path: entry, content, isExecutable }) => {
        const target = path.join(staging, "new", entry);
        if (content === undefined) return void (await mkdir(target, { recursive: true }));
        await mkdir(path.dirname(target), { recursive: true });
        await writeFile(target, content, { flag: "wx", mode: isExecutable ? 0o755 : 0o644 });
        files.push(entry);
      },
      limits,
    );
    files.sort();
    if (!files.includes("runtime.yaml") && !files.some((file) => file.startsWith("workflows/")))
      throw bundleError("the archive is no project: it has neither a runtime.yaml nor workflows; nothing was unpacked");
    await place(files, { staging, root, replaces });
    return { files };
  } catch (error) {
    isKept = error instanceof ForgeError && error.reason === NOT_UNDONE;
    throw error;
  } finally {
    if (!isKept) await rm(staging, { recursive: true, force: true });
  }
}

interface Placing {
  readonly staging: string;
  readonly root: string;
  readonly replaces: boolean;
}

/** Moves everything to its place. What was there is kept aside until all is moved, and put back where something goes wrong. */
async function place(files: readonly string[], { staging, root, replaces }: Placing): Promise<void> {
  await checkPlaces(files, root, replaces);
  const undo: UndoStep[] = [];
  try {
    for (const file of files) {
      const target = path.join(root, file);
      await makeDirectories(path.dirname(target), undo);
      const kept = path.join(staging, "old", file);
      if ((await kindAt(target)) === "file") {
        await mkdir(path.dirname(kept), { recursive: true });
        await rename(target, kept);
        undo.push(() => rename(kept, target));
      }
      await rename(path.join(staging, "new", file), target);
      undo.push(() => rm(target));
    }
  } catch (error) {
    const failures = await undoAll(undo);
    throw failures.length === 0 ? error : notUndone(error, failures, path.join(staging, "old"));
  }
}

function notUndone(cause: unknown, failures: readonly unknown[], kept: string): ForgeError {
  const message = `the import failed (${textOf(cause)}), and so did taking it back: ${failures.map(textOf).join("; ")}. The files that it replaced lie in ${kept}`;
  return new ForgeError(ErrorCode.INTERNAL, message, { reason: NOT_UNDONE, metadata: { file: kept }, cause });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Errors: conflict, FILE_EXISTS; validation where a link or something else than a directory is in the way. */
async function checkPlaces(files: readonly string[], root: string, replaces: boolean): Promise<void> {
  const existing: string[] = [];
  for (const file of files) {
    const parts = file.split("/");
    // The root itself may be a link of its owner's; what is below it must not lead elsewhere.
    for (let length = 1; length < parts.length; length++) await checkDirectory(path.join(root, ...parts.slice(0, length)));
    const kind = await kindAt(path.join(root, file));
    if (kind === "file") existing.push(file);
    else if (kind !== undefined) throw inTheWay(path.join(root, file), kind);
  }
  if (existing.length === 0 || replaces) return;
  const shown = existing.slice(0, 5).join(", ");
  throw new ForgeError(
    ErrorCode.CONFLICT,
    `${root} has ${existing.length === 1 ? "a file" : `${existing.length} files`} of the bundle already (${shown}): name another directory, or add --force`,
    {
      reason: "FILE_EXISTS",
      metadata: { file: root },
    },
  );
}

async function checkDirectory(directory: string): Promise<void> {
  const kind = await kindAt(directory);
  if (kind !== undefined && kind !== "directory") throw inTheWay(directory, kind);
}

async function kindAt(file: string): Promise<"file" | "directory" | "link" | "other" | undefined> {
  try {
    const found = await lstat(file);
    if (found.isSymbolicLink()) return "link";
    return found.isFile() ? "file" : found.isDirectory() ? "directory" : "other";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}

function inTheWay(file: string, kind: string): ForgeError {
  return new ForgeError(ErrorCode.CONFLICT, `${file} is in the way (${kind}): nothing was unpacked`, { reason: "FILE_EXISTS", metadata: { file } });
}

/** Makes a directory and those above it; each one that is new can be taken away again. */
async function makeDirectories(directory: string, undo: UndoStep[]): Promise<void> {
  if ((await kindAt(directory)) === "directory") return;
  // The topmost that was made is told, or nothing.
  const first = await mkdir(directory, { recursive: true });
  if (first !== undefined) undo.push(() => removeEmpty(first));
}

async function removeEmpty(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) if (entry.isDirectory()) await removeEmpty(path.join(directory, entry.name));
  await rmdir(directory);
}
