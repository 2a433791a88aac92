import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { MODE_EXECUTABLE, MODE_PLAIN } from "@forge/protocol/workspace";
import { stopIfAborted } from "../stop.ts";
import { quoted } from "./file-error.ts";

/** What a file is at one moment. */
export interface FileState {
  readonly mode: number;
  readonly size: bigint;
  readonly sha256: string;
  /** Where it was asked for. */
  readonly content: Buffer | undefined;
}

export interface ReadFileOptions {
  /** For errors: the path in the directory. */
  readonly path: string;
  /** Whether the content is wanted as well; otherwise it is hashed piece by piece. */
  readonly keepsContent: boolean;
  /** Asked again each time that the file is read; throws where a file of this size is not to be read. */
  readonly checkSize: (size: bigint) => void;
  readonly signal?: AbortSignal;
}

const PIECE_BYTES = 256 * 1024;
const ATTEMPTS_MAX = 6;
/** Between two attempts, longer each time: whoever writes gets the time to finish. */
const PAUSE_MS = 25;
/** Two writes within a tick of the file system's clock leave one time; no tick is longer. */
const TICK_MS = 20;

/** Opens a regular file without following a link and without waiting for the other end of a pipe. */
export function openFile(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

/** 0755 for what its owner may execute, else 0644. */
export function modeOf({ mode }: BigIntStats): number {
  return (mode & 0o100n) === 0n ? MODE_PLAIN : MODE_EXECUTABLE;
}

/** Reads a file as it is at one moment: one that changes meanwhile is read again, a bounded number of times. Errors: conflict, FILE_CHANGING. */
export async function readFile(handle: FileHandle, options: ReadFileOptions): Promise<FileState> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    stopIfAborted(options.signal);
    const before = await handle.stat({ bigint: true });
    options.checkSize(before.size);
    // A time as young as the clock's tick does not tell whether the last write was before or after it.
    const isFresh = Math.abs(Date.now() - Number(before.mtimeMs)) < TICK_MS;
    const { size, sha256, content } = await readOnce(handle, before.size, options);
    const after = await handle.stat({ bigint: true });
    const isSame = before.size === after.size && before.mtimeNs === after.mtimeNs && before.ctimeNs === after.ctimeNs && BigInt(size) === after.size;
    if (isSame && !isFresh) return { mode: modeOf(after), size: after.size, sha256, content };
    await sleep(PAUSE_MS * attempt);
  }
  const { path } = options;
  throw new ForgeError(ErrorCode.CONFLICT, `${quoted(path)} changes all the time: it was read ${ATTEMPTS_MAX} times and was another one each time`, {
    reason: "FILE_CHANGING",
    retryable: true,
    origin: "client",
    metadata: { path },
  });
}

/** Up to one byte more than there should be, so that a file that grows is noticed and none is read without end. */
async function readOnce(handle: FileHandle, expected: bigint, { keepsContent, signal }: ReadFileOptions) {
  const bytesMax = Number(expected) + 1;
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(keepsContent ? bytesMax : Math.min(PIECE_BYTES, bytesMax));
  let size = 0;
  for (;;) {
    stopIfAborted(signal);
    const start = keepsContent ? size : 0;
    const { bytesRead } = await handle.read(buffer, start, Math.min(PIECE_BYTES, buffer.length - start, bytesMax - size), size);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(start, start + bytesRead));
    size += bytesRead;
    if (size === bytesMax) break;
  }
  return { size, sha256: hash.digest("hex"), content: keepsContent ? buffer.subarray(0, size) : undefined };
}
