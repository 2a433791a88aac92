import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { readBounded } from "../workspace/read-text-file.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";

/** A file as it was when it was read. */
export interface PresentFile {
  readonly bytes: Buffer;
  readonly sha256: string;
  /** Permission bits. */
  readonly mode: number;
  /** To see cheaply whether it is still the same. */
  readonly stat: BigIntStats;
}

/** A path of the workspace and what was there. */
export interface FileState {
  /** Relative to the workspace, links followed. */
  readonly path: string;
  /** Undefined: nothing. */
  readonly file: PresentFile | undefined;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Reads what is at a path now. Errors: those of the guard; sandbox_violation, FILE_TOO_LARGE. */
export async function readFileState(guard: WorkspaceGuard, path: string, bytesMax: number): Promise<FileState> {
  const real = await guard.resolve(path);
  const relative = guard.relative(real);
  let handle: Awaited<ReturnType<WorkspaceGuard["openRegularFile"]>>;
  try {
    handle = await guard.openRegularFile(real, path, 0);
  } catch (error) {
    if (error instanceof ForgeError && error.code === ErrorCode.NOT_FOUND && error.reason === "ENOENT") return { path: relative, file: undefined };
    throw error;
  }
  try {
    const stat = await handle.stat({ bigint: true });
    const bytes = await readBounded(handle, path, bytesMax);
    return { path: relative, file: { bytes, sha256: sha256Of(bytes), mode: Number(stat.mode & 0o7777n), stat } };
  } finally {
    await handle.close();
  }
}

/** Whether nothing has touched a file since: false is no proof that it is another one. */
export function isSameStat(one: BigIntStats, other: BigIntStats): boolean {
  return (
    one.dev === other.dev &&
    one.ino === other.ino &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs &&
    one.mode === other.mode
  );
}

/** The same without what making a link to the file changes. */
export function isSameContent(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs;
}
