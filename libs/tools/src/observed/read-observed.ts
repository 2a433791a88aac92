import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, type Stats } from "node:fs";
import type { ContentPack } from "./content-pack.ts";
import type { ObservedFile } from "./observed-file.ts";

/** A larger file's content is not kept. */
export const KEPT_BYTES_MAX = 4 * 1024 * 1024;
/** A larger file is not even read. */
const HASHED_BYTES_MAX = 64 * 1024 * 1024;

const PIECE_BYTES = 1024 * 1024;
/** How often a file that changes while it is read is read again. */
const ATTEMPTS_MAX = 3;
const HAS_DESCRIPTOR_PATHS = process.platform === "linux";

const piece = Buffer.allocUnsafe(PIECE_BYTES);

/** A file or link as it is now, its content in the pack; undefined where it went away or became something else meanwhile. */
export function readObserved(path: string, stat: Stats, pack: ContentPack): ObservedFile | undefined {
  const mode = stat.mode & 0o7777;
  if (stat.isSymbolicLink()) {
    const target = Buffer.from(readlinkSync(path));
    return { isLink: true, size: target.length, mode, sha256: hashOf(target), isKept: false };
  }
  if (stat.size > HASHED_BYTES_MAX) return { isLink: false, size: stat.size, mode, sha256: "", isKept: false };
  // What can't be read by this user can't be kept: it is known by its size and times alone.
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? { isLink: false, size: stat.size, mode, sha256: "", isKept: false } : undefined;
  }
  try {
    // A directory on the way may have become a link out of the workspace since it was looked at.
    if (HAS_DESCRIPTOR_PATHS && readlinkSync(`/proc/self/fd/${descriptor}`) !== path) return undefined;
    return readOpen(descriptor, pack);
  } finally {
    closeSync(descriptor);
  }
}

function readOpen(descriptor: number, pack: ContentPack): ObservedFile | undefined {
  for (let attempt = 1; ; attempt++) {
    const before = fstatSync(descriptor);
    if (!before.isFile()) return undefined;
    const mode = before.mode & 0o7777;
    const content = before.size <= KEPT_BYTES_MAX ? readWhole(descriptor, before.size) : undefined;
    const sha256 = content === undefined ? hashPieces(descriptor) : hashOf(content);
    const after = fstatSync(descriptor);
    const isSame = before.size === after.size && before.mtimeMs === after.mtimeMs && (content === undefined || content.length === after.size);
    if (!isSame && attempt < ATTEMPTS_MAX) continue;
    const isKept = content !== undefined && pack.add(sha256, content);
    return { isLink: false, size: content?.length ?? after.size, mode, sha256, isKept };
  }
}

function readWhole(descriptor: number, size: number): Buffer {
  // One byte more, so that a file that grows is noticed.
  const buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  while (length < buffer.length) {
    const bytes = readSync(descriptor, buffer, length, buffer.length - length, length);
    if (bytes === 0) break;
    length += bytes;
  }
  return buffer.subarray(0, length);
}

function hashPieces(descriptor: number): string {
  const hash = createHash("sha256");
  for (let offset = 0; offset <= HASHED_BYTES_MAX; ) {
    const bytes = readSync(descriptor, piece, 0, piece.length, offset);
    if (bytes === 0) break;
    hash.update(piece.subarray(0, bytes));
    offset += bytes;
  }
  return hash.digest("hex");
}

function hashOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
