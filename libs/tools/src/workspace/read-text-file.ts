import type { FileHandle } from "node:fs/promises";
import { fileTooLarge } from "./file-error.ts";
import { decodeText, type Encoding } from "./text-content.ts";
import type { WorkspaceGuard } from "./workspace-guard.ts";

/** Of a file that tools read or write whole: as JSON it has six times its size at worst, which still fits an artifact of 16 MiB. */
export const FILE_BYTES_MAX = 2 * 1024 * 1024;

/** Of a file that some lines are read of. */
export const RANGED_FILE_BYTES_MAX = 32 * 1024 * 1024;

/** A text file's content. */
export interface TextFile {
  /** Byte order mark included. */
  readonly content: string;
  readonly encoding: Encoding;
  /** Bytes. */
  readonly size: number;
}

/** A text file of the workspace, exactly as it is. Errors: sandbox_violation, FILE_TOO_LARGE; validation, NOT_TEXT; those of the guard. */
export async function readTextFile(guard: WorkspaceGuard, path: string, bytesMax = FILE_BYTES_MAX): Promise<TextFile> {
  const handle = await guard.openFile(path);
  try {
    const bytes = await readBounded(handle, path, bytesMax);
    const { text, encoding, hasMark } = decodeText(bytes, path);
    return { content: hasMark ? `\ufeff${text}` : text, encoding, size: bytes.length };
  } finally {
    await handle.close();
  }
}

/** All bytes of an open file. Errors: sandbox_violation, FILE_TOO_LARGE. */
export async function readBounded(handle: FileHandle, path: string, bytesMax: number): Promise<Buffer> {
  // One byte more than allowed, so that a file that grows while it is read is noticed.
  const buffer = Buffer.alloc(Math.min((await handle.stat()).size, bytesMax) + 1);
  let size = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, size, buffer.length - size, null);
    size += bytesRead;
    if (bytesRead === 0 || size === buffer.length) break;
  }
  if (size > bytesMax) throw fileTooLarge(path, `is larger than ${bytesMax} bytes`);
  return buffer.subarray(0, size);
}
